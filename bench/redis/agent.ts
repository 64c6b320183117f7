/**
 * Process that runs calls for a benchmark. Each line of the process's input is a call as JSON, and each line of its
 * output is a result. The program runs on Deno, on Bun, and as a bundle on Node.
 *
 * @module
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { keys, type Session, type Workers } from "./contender.ts";
import { measureEmptyCall } from "./empty_call.ts";
import { contenders, measure } from "./works.ts";

/** Returns the number of milliseconds since 1970, including fractions. All processes on a machine share this clock. */
const now = () => performance.timeOrigin + performance.now();

let session: Session;
let workers: Workers;
let count = 0;
let lateness: number[] = [];

/** Calls that an agent answers. */
const calls = {
  measure,
  measureEmptyCall,

  async open({ contender, ...options }: { contender: string; url: string; queue: string; payload: number }) {
    session = await contenders[contender]!(options);
  },

  /** Starts workers. If a key is a timestamp, the handler for that key should begin at that time. */
  async work({ concurrency }: { concurrency: number }) {
    count = 0;
    lateness = [];
    workers = await session.openWorkers(concurrency, (key) => {
      count++;
      const due = Number(key);
      if (due > 0) lateness.push(now() - due);
    });
    workers.start();
  },

  /** Returns the number of handlers that have begun, and the current time. */
  count: () => ({ count, at: now() }),

  /** Stops the workers. Returns the lateness of each key that is a timestamp, in milliseconds. */
  async stop() {
    await workers.stop();
    return lateness;
  },

  async fill({ items }: { items: number }) {
    await session.addAll(keys(items));
  },

  /** Adds one item after another. Each key is the current time. */
  async poke({ times, pause }: { times: number; pause: number }) {
    for (let i = 0; i < times; i++) {
      await session.add(String(now()));
      await sleep(pause);
    }
  },

  /**
   * Adds items with random delays from `from` to `from + spread` milliseconds. Each key is the time at which the item
   * is due.
   */
  async delay({ times, from, spread }: { times: number; from: number; spread: number }) {
    for (let i = 0; i < times; i++) {
      const delay = Math.round(from + spread * Math.random());
      await session.addAfter(String(now() + delay), delay);
    }
  },

  async close() {
    await session[Symbol.asyncDispose]();
  },
};

/** Types of the calls that an agent answers. */
export type Calls = typeof calls;

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line) as [keyof Calls, ...never[]];
  const call = calls[name] as (...args: unknown[]) => unknown;
  console.log(JSON.stringify({ result: await call(...args) }));
}
process.exit();
