/**
 * Random calls of `addAndWait`, `cancel` and adds, on pools that abort old attempts, with handlers that succeed, fail
 * and are given up. A model checks which attempt each call may get its result from, and which attempts are aborted.
 */

import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flushPromises } from "../queue_helpers.ts";

const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 60);

const KEYS = ["a/1", "a/2", "b/1"];
const key = fc.constantFrom(...KEYS);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("cancel" as const, "addAndCancel" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("cancelDelayed" as const, "addAfter" as const), key }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("succeed" as const, "fail" as const, "giveUp" as const), key }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("advance" as const), key, ms: fc.integer({ min: 1, max: 40 }) }),
  },
);
const steps = fc.array(step, { maxLength: 80, size: "max" });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** An attempt at a key. */
interface Attempt {
  readonly key: string;
  readonly number: number;
  readonly signal: AbortSignal;
  /** Whether anything was done with its item since the attempt began. */
  isOld: boolean;
  resolve(result: number): void;
  reject(error: unknown): void;
}

/** A call to `addAndWait`. */
interface Call {
  readonly key: string;
  /** Number of attempts that had begun when the call was made. */
  readonly after: number;
  result?: number;
  code?: string;
}

async function run(steps: readonly Step[], options: RateLimitingQueueOptions<string>, aborts: boolean): Promise<void> {
  const clock = new HandClock();
  const limiter = createExponentialLimiter<string>({ baseDelay: 5, maxDelay: 20 });
  const queue = createRateLimitingQueue<string, number>(limiter, { clock, ...options });
  const running = new Map<string, Attempt>();
  const calls: Call[] = [];
  let begun = 0;
  /** Keys that were cancelled and not added since, so no attempt at them may begin. */
  const cancelled = new Set<string>();
  const pool = runWorkers(queue, (item, { signal }) => {
    assert(!running.has(item), `two attempts at ${item} at once`);
    assert(!cancelled.has(item), `an attempt at ${item} after its cancel`);
    return new Promise<number>((resolve, reject) => {
      running.set(item, { key: item, number: ++begun, signal, isOld: false, resolve, reject });
    });
  }, { concurrency: 2, onError() {}, whileProcessing: aborts ? "abort" : "again", abortFor: 50 });
  const end = (key: string, how: "succeed" | "fail" | "giveUp") => {
    const attempt = running.get(key);
    if (attempt === undefined) return;
    running.delete(key);
    if (how === "succeed") attempt.resolve(attempt.number);
    else attempt.reject(how === "fail" ? new Error("failed") : new TerminalError("given up"));
  };
  for (const step of steps) {
    const attempt = running.get(step.key);
    if (attempt !== undefined && !["advance", "cancelDelayed"].includes(step.do)) attempt.isOld = true;
    if (step.do === "wait") {
      cancelled.delete(step.key);
      const call: Call = { key: step.key, after: begun };
      calls.push(call);
      queue.addAndWait(step.key).then((result) => call.result = result, (error) => call.code = error.code);
    } else if (step.do === "add") {
      cancelled.delete(step.key);
      queue.add(step.key);
    } else if (step.do === "cancel" || step.do === "addAndCancel") {
      if (step.do === "addAndCancel") queue.add(step.key); // a pool that waits gets the item before the cancel
      const position = queue.cancel(step.key, "cancelled");
      if (position !== undefined) cancelled.add(step.key);
      if (position === "running") assert(running.get(step.key)?.signal.aborted ?? true);
      await flushPromises();
      const waiting = calls.filter((call) =>
        call.key === step.key && call.code === undefined && call.result === undefined
      );
      assertEquals(waiting, [], "calls that still wait after a cancel");
    } else if (step.do === "addAfter") {
      cancelled.delete(step.key);
      queue.addAfter(step.key, 15);
    } else if (step.do === "cancelDelayed") queue.cancelDelayed(step.key);
    else if (step.do === "advance") await clock.advance(step.ms);
    else end(step.key, step.do);
    await flushPromises();
    for (const { key, signal, isOld } of running.values()) {
      assert(isOld || !signal.aborted, `the attempt at ${key} was aborted without an add`);
    }
  }
  for (let turn = 0; turn < 60; turn++) {
    for (const key of KEYS) end(key, "succeed");
    await flushPromises();
    await clock.advance(20);
    await flushPromises();
  }
  for (const call of calls) {
    if (call.code !== undefined) assert(["WQ_CANCELLED", "WQ_GIVEN_UP"].includes(call.code), call.code);
    else assert(call.result! > call.after, `result ${call.result} for a call after attempt ${call.after}`);
  }
  assertEquals([queue.length, queue.delayed, queue.processing, running.size], [0, 0, 0, 0]);
  await pool.stop();
}

const queues: Record<string, () => RateLimitingQueueOptions<string>> = {
  "fifo": () => ({}),
  "retries first": () => ({ retriesFirst: true }),
  "fair, and replacing": () => ({
    discipline: createFairDiscipline({ separator: "/", maxPerGroup: 1 }),
    addWhileDelayed: "replace",
  }),
  "folding": () => ({ addWhileDelayed: "fold" }),
};

for (const [name, options] of Object.entries(queues)) {
  for (const aborts of [false, true]) {
    const how = aborts ? "the newest wins" : "attempts run to their end";
    Deno.test(`rule 23, ${name}, ${how}: every call settles with the result of an attempt that began after it`, async () => {
      await fc.assert(fc.asyncProperty(steps, (steps) => run(steps, options(), aborts)), { numRuns: RUNS });
    });
  }
}
