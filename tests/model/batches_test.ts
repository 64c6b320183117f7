/**
 * Random adds, cancels, timeouts and outcomes on pools of batches. Checks the bounds of the batches, and that a pool
 * takes exactly the items that it can work on.
 */

import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import {
  createConcurrencyThrottle,
  createExponentialLimiter,
  createRateLimitingQueue,
  runBatches,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 60);
const KEYS = "abcdefgh";
const TIMEOUT = 50;
const DO = ["add", "add", "add", "addAfter", "cancel", "succeed", "succeed", "fail", "failSome", "advance"] as const;
const step = fc.record({ do: fc.constantFrom(...DO), key: fc.constantFrom(...KEYS), which: fc.nat(3) });
const options = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  wait: fc.constantFrom(0, 0, 20),
  rest: fc.constantFrom({}, { split: true }, { timeout: TIMEOUT }),
  permits: fc.constantFrom(undefined, undefined, 4),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Options = typeof options extends fc.Arbitrary<infer O> ? O : never;

/** Call of the handler that has not ended. */
interface Call {
  readonly items: readonly string[];
  readonly began: number;
  end(failed: readonly string[]): void;
  fail(): void;
}

async function run(steps: readonly Step[], { size, concurrency, wait, rest, permits }: Options) {
  const { split, timeout } = rest as { split?: boolean; timeout?: number };
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 20 }), { clock });
  const throttle = permits === undefined ? undefined : createConcurrencyThrottle({ limit: permits });
  const calls: Call[] = [];
  const pool = runBatches(queue, (items) => {
    assert(items.length <= size, `${items} are more than ${size}`);
    for (const item of items) assert(!calls.some(({ items }) => items.includes(item)), `${item} is in two batches`);
    return new Promise<{ failed: Map<string, unknown> }>((resolve, reject) => {
      const call: Call = {
        items,
        began: clock.time,
        end: (failed) => resolve({ failed: new Map(failed.map((item) => [item, new Error("some")])) }),
        fail: () => reject(new Error("all")),
      };
      calls.push(call);
    });
  }, { size, concurrency, wait, split, timeout, throttle, onError() {} });
  const isLive = ({ began }: Call) => timeout === undefined || clock.time < began + timeout;
  for (const { do: what, key, which } of steps) {
    const call = calls[which % calls.length];
    if (what === "add") queue.add(key);
    else if (what === "addAfter") queue.addAfter(key, 10);
    else if (what === "cancel") queue.cancel(key);
    else if (what === "advance") await clock.advance(10);
    else if (call !== undefined) {
      calls.splice(calls.indexOf(call), 1);
      if (what === "fail") call.fail();
      else call.end(what === "failSome" ? call.items.slice(1) : []);
    }
    await flush();
    const live = calls.filter(isLive);
    assert(live.length <= concurrency, `${live.length} batches at once`);
    const worked = calls.reduce((sum, { items }) => sum + items.length, 0);
    assert(queue.processing >= worked);
    if (split || (wait > 0 && throttle === undefined)) continue; // items may wait for others, or for the other half
    assertEquals(queue.processing, worked, "no item is taken that is not worked on");
    const mayBegin = live.length < concurrency && worked < (permits ?? Infinity);
    if (timeout === undefined && mayBegin) assertEquals(queue.length, 0, "ready items while a batch may begin");
  }
  for (let turn = 0; turn < 30; turn++) {
    for (const call of calls.splice(0)) call.end([]);
    await flush();
    await clock.advance(20);
  }
  assertEquals([queue.length, queue.delayed, queue.processing], [0, 0, 0]);
  await pool.stop();
  assertEquals(clock.timers, 0);
}

Deno.test("batches: each batch holds all items that it may take, up to its size, and no others", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), options, run);
  await fc.assert(property, { numRuns: RUNS * 5 });
});
