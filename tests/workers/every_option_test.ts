/**
 * Effect of every option of a pool. Even if nothing used an option, checks of its value would pass, so these tests
 * require each option to change what a pool does. The table doesn't compile without an entry for each option.
 */

import { assertEquals, assertNotEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  adaptThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  runWorkers,
  TokenBucket,
  type WorkerOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";

/** Option to test, and other options that the pool needs to show its effect. */
interface Effect {
  /** Returns the option's value. Callbacks write to the log. */
  value(log: string[]): unknown;
  readonly others?: WorkerOptions<string>;
}

const UNLIMITED = adaptThrottle({ acquire: () => ({ begin() {}, charge() {}, end() {} }) });

const EFFECTS: { readonly [Name in keyof Required<WorkerOptions>]: Effect } = {
  concurrency: { value: () => 2 },
  maxRetries: { value: () => 1 },
  timeout: { value: () => 20 },
  maxAbandoned: { value: () => 0, others: { timeout: 20 } },
  throttle: { value: () => new TokenBucket(1, 1) },
  cost: { value: (log) => () => log.push("cost"), others: { throttle: UNLIMITED } },
  isOverload: { value: (log) => () => log.push("overload"), others: { throttle: UNLIMITED } },
  signal: { value: () => AbortSignal.abort() },
  clock: { value: () => new HandClock(), others: { timeout: 20 } }, // time stands still on this clock
  onError: { value: (log) => () => log.push("error") },
  onGiveUp: { value: (log) => () => log.push("given up"), others: { maxRetries: 0 } },
  whileProcessing: { value: () => "abort" },
  abortFor: { value: () => 20, others: { whileProcessing: "abort" } },
};

/** Runs a pool for 400 ms. Returns a log of the events, including the time at which each attempt started. */
async function run(optionsWith: (log: string[]) => WorkerOptions<string>): Promise<string[]> {
  using time = new FakeTime(0);
  const log: string[] = [];
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }));
  for (const item of ["fails", "succeeds", "succeeds too"]) queue.add(item);
  const pool = runWorkers(queue, async (item, { signal }) => {
    log.push(`${time.now} ms: ${item}`);
    await new Promise((resolve, reject) => {
      setTimeout(resolve, 60);
      signal.addEventListener("abort", reject);
    });
    if (item === "fails") throw new Error("failed");
  }, { onError() {}, ...optionsWith(log) });
  for (let ms = 0; ms < 400; ms += 10) {
    if (ms === 100) queue.add("succeeds"); // while it is processing
    await time.tickAsync(10);
  }
  queue.shutDown();
  const stopped = pool.stop();
  await time.tickAsync(1000);
  await stopped;
  return log;
}

for (const [name, { value, others = {} }] of Object.entries(EFFECTS)) {
  Deno.test(`'${name}' of a pool has an effect`, async () => {
    const without = await run(() => others);
    assertEquals(await run(() => others), without); // two runs with the same options give the same result
    assertNotEquals(await run((log) => ({ ...others, [name]: value(log) })), without);
  });
}
