/** Messages between a queue object and the thread that has its database. */

import type { EngineLimiter } from "@workqueue/engine";
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
  | { readonly listener: number; readonly delay: number };

/** First message of the thread. */
export const READY = "ready";

/** Mark in the data of a thread. Another thread that imports the module serves nothing. */
export const MARK = "workqueue-sqlite";
