/**
 * Process that runs calls for a benchmark. The program runs on Deno, on Bun, and as a bundle on Node.
 *
 * @module
 */

import { setInterval } from "node:timers";
import { answer, sessionCalls } from "../remote/calls.ts";
import { measureAdding, measureLocked } from "./standstill.ts";
import { contenders, measure } from "./works.ts";

const calls = {
  ...sessionCalls(contenders).calls,
  measure,
  measureAdding,
  measureLocked,

  /** Starts a timer that does nothing. */
  tick({ every }: { every: number }) {
    setInterval(() => {}, every);
  },
};

/** Types of the calls that an agent answers. */
export type FileCalls = typeof calls;

await answer(calls);
