/** Messages between a queue object and the thread that has its database. */

import type { EngineLimiter } from "@workqueue/engine";
import process from "node:process";
import type { SqliteEngineSettings } from "../engine.ts";

/** Settings of an engine, as far as they can be sent to a thread. */
export interface SentSettings extends Omit<SqliteEngineSettings, "limiter" | "discipline" | "clock"> {
  readonly limiter: Omit<EngineLimiter, "given">;
  readonly discipline: Pick<NonNullable<SqliteEngineSettings["discipline"]>, "text" | "weights"> | undefined;
}

/** Call of a method of a queue's engine or throttle store, or of the thread itself. */
export interface Request {
  readonly id: number;
  readonly queue: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Error of a call. */
export interface SentError {
  readonly message: string;
  /** Set for a `SqliteConnectionError`. */
  readonly mayHaveRun?: boolean;
}

/** Result of a call, or message to a listener. */
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: SentError }
  | { readonly listener: number; readonly message: ListenerMessage };

/** Message to a listener: the milliseconds until there may be work, or that the process must renew its leases. */
export type ListenerMessage = number | "renew";

/** First message of the thread. */
export const READY = "ready";

/** Data of the thread, which distinguish it from other threads. */
export const THREAD_DATA = { mark: "workqueue-sqlite" };

/** Whether this code runs in a thread that serves queues. */
export function isServedHere(): boolean {
  const threads = process.getBuiltinModule?.("node:worker_threads"); // a runtime without it has no threads
  return threads?.isMainThread === false && threads.workerData?.mark === THREAD_DATA.mark;
}
