/**
 * A process that does what it is told: each line of its input is a call as JSON, and is answered by a line with the
 * result. Runs on Deno, Bun and, bundled, on Node.
 *
 * @module
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { keys, type Session, type Workers } from "./contender.ts";
import { measureEmptyCall } from "./empty_call.ts";
import { contenders, measure } from "./works.ts";

/** Milliseconds since 1970, with a fraction: the same for all processes of a machine. */
const now = () => performance.timeOrigin + performance.now();

let session: Session;
let workers: Workers;
let count = 0;
let lateness: number[] = [];

/** What can be called. */
const calls = {
  measure,
  measureEmptyCall,

  async open({ contender, ...options }: { contender: string; url: string; queue: string; payload: number }) {
    session = await contenders[contender]!(options);
  },

  /** Works on what comes. A key that is a time says when it should have come. */
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

  /** How many handlers have begun so far, and when that was. */
  count: () => ({ count, at: now() }),

  /** Stops the workers. */
  async stop() {
    await workers.stop();
    return lateness;
  },

  async fill({ items }: { items: number }) {
    await session.addAll(keys(items));
  },

  /** Adds one item after another, each when it should come. */
  async poke({ times, pause }: { times: number; pause: number }) {
    for (let i = 0; i < times; i++) {
      await session.add(String(now()));
      await sleep(pause);
    }
  },

  /** Adds items that are due later, spread over some milliseconds. */
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

/** The calls of an agent. */
export type Calls = typeof calls;

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = JSON.parse(line) as [keyof Calls, ...never[]];
  const call = calls[name] as (...args: unknown[]) => unknown;
  console.log(JSON.stringify({ result: await call(...args) }));
}
process.exit();
