/**
 * Process that runs calls for a benchmark. The program runs on Deno, on Bun, and as a bundle on Node.
 *
 * @module
 */

import { answer, now, sessionCalls } from "../remote/calls.ts";
import { measureEmptyCall } from "./empty_call.ts";
import { contenders, measure } from "./works.ts";

const { calls: ofSession, session } = sessionCalls(contenders);

const calls = {
  ...ofSession,
  measure,
  measureEmptyCall,

  /**
   * Adds items with random delays from `from` to `from + spread` milliseconds. Each key is the time at which the item
   * is due.
   */
  async delay({ times, from, spread }: { times: number; from: number; spread: number }) {
    for (let i = 0; i < times; i++) {
      const delay = Math.round(from + spread * Math.random());
      await session().addAfter(String(now() + delay), delay);
    }
  },
};

/** Types of the calls that an agent answers. */
export type RedisCalls = typeof calls;

await answer(calls);
