/** Calls that the processes of the benchmarks answer. */

import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Contender, keys, type QueueOptions, type Session, type Workers } from "./contender.ts";

/** Returns the number of milliseconds since 1970, including fractions. All processes on a machine share this clock. */
export const now = (): number => performance.timeOrigin + performance.now();

/** Calls that use one open queue. */
export interface SessionCalls {
  open(options: QueueOptions & { contender: string }): Promise<void>;
  /** Starts workers. If a key is a timestamp, the handler for that key should begin at that time. */
  work(options: { concurrency: number }): Promise<void>;
  /** Returns the number of handlers that have begun, and the current time. */
  count(): { count: number; at: number };
  /** Stops the workers. Returns the lateness of each key that is a timestamp, in milliseconds. */
  stop(): Promise<number[]>;
  fill(options: { items: number }): Promise<void>;
  /** Adds one item after another. Each key is the current time. */
  poke(options: { times: number; pause: number }): Promise<void>;
  close(): Promise<void>;
}

/** Returns the calls, and the session that they use. */
export function sessionCalls<S extends Session>(
  contenders: Readonly<Record<string, Contender<S>>>,
): { calls: SessionCalls; session: () => S } {
  let session: S;
  let workers: Workers;
  let count = 0;
  let lateness: number[] = [];
  const calls: SessionCalls = {
    async open({ contender, ...options }) {
      session = await contenders[contender]!(options);
    },
    async work({ concurrency }) {
      count = 0;
      lateness = [];
      workers = await session.openWorkers(concurrency, (key) => {
        count++;
        const due = Number(key);
        if (due > 0) lateness.push(now() - due);
      });
      workers.start();
    },
    count: () => ({ count, at: now() }),
    async stop() {
      await workers.stop();
      return lateness;
    },
    async fill({ items }) {
      await session.addAll(keys(items));
    },
    async poke({ times, pause }) {
      for (let i = 0; i < times; i++) {
        await session.add(String(now()));
        await sleep(pause);
      }
    },
    async close() {
      await session[Symbol.asyncDispose]();
    },
  };
  return { calls, session: () => session };
}

/**
 * Answers calls until the input ends, and then exits. Each line of the process's input is a call as JSON: the name of a
 * method of `calls`, and its arguments. Each line of the output is a result.
 */
export async function answer(calls: object): Promise<never> {
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...args] = JSON.parse(line) as [keyof typeof calls, ...unknown[]];
    const call = calls[name] as (...args: unknown[]) => unknown;
    console.log(JSON.stringify({ result: await call(...args) }));
  }
  process.exit();
}
