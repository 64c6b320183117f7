/** Throttles that adapt the number of attempts at once. */

import { assert, assertEquals } from "@std/assert";
import { createAimdThrottle, createGradientThrottle, type Permit } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { randomNumbers } from "../queue_helpers.ts";
import { attempt, begin, limitOf, result, round } from "./helpers.ts";

Deno.test("aimd: the limit grows by one after each round of successes, up to the maximum", () => {
  const throttle = createAimdThrottle({ max: 5, clock: new HandClock() });
  const limits = [limitOf(throttle)];
  for (let i = 0; i < 12; i++) {
    round(throttle, "succeeded");
    limits.push(limitOf(throttle));
  }
  assertEquals(limits[0], 1);
  assertEquals(limits.at(-1), 5);
  assert(limits.every((limit, i) => i === 0 || limit - limits[i - 1]! <= 1), String(limits));
});

Deno.test("aimd: the limit does not grow while less than 80 % of it is in use, nor through failures", () => {
  const throttle = createAimdThrottle({ min: 1, max: 50, initial: 10, clock: new HandClock() });
  attempt(throttle, "succeeded", 1000);
  assertEquals(limitOf(throttle), 10);
  round(throttle, "failed");
  assertEquals(limitOf(throttle), 10);
  const permits = Array.from({ length: 8 }, () => begin(throttle));
  for (let i = 0; i < 100; i++) {
    permits.shift()!.end(result("succeeded"));
    permits.push(begin(throttle));
  }
  assert(limitOf(throttle) >= 10);
});

Deno.test("aimd: ordinary failures change nothing, so 5 % of bad items don't shrink the limit", () => {
  const throttle = createAimdThrottle({ min: 1, max: 20, initial: 20, clock: new HandClock() });
  for (let i = 0; i < 2000; i++) attempt(throttle, i % 20 === 0 ? "failed" : "succeeded");
  assertEquals(limitOf(throttle), 20);
});

Deno.test("aimd: overload shrinks the limit by a tenth, once per mean duration, down to the minimum", () => {
  const clock = new HandClock();
  const throttle = createAimdThrottle({ min: 2, max: 20, initial: 20, clock });
  attempt(throttle, "succeeded", 1, 50);
  round(throttle, "overloaded");
  assertEquals(limitOf(throttle), 18);
  clock.time += 49;
  attempt(throttle, "overloaded");
  assertEquals(limitOf(throttle), 18);
  clock.time += 1;
  attempt(throttle, "overloaded");
  assertEquals(limitOf(throttle), 16); // 16.2
  for (let i = 0; i < 100; i++) {
    clock.time += 50;
    attempt(throttle, "overloaded");
  }
  assertEquals(limitOf(throttle), 2);
});

/** Backend that works on `capacity` attempts at full speed, and shares its capacity among more. */
class Backend {
  base = 50;
  readonly clock = new HandClock();
  readonly throttle = createGradientThrottle({ max: 400, initial: 10, clock: this.clock });
  readonly #random = randomNumbers(5);
  readonly #capacity: number;
  readonly #varies: boolean;
  #running: { readonly at: number; readonly from: number; readonly permit: Permit }[] = [];

  constructor(capacity: number, varies: boolean) {
    this.#capacity = capacity;
    this.#varies = varies;
  }

  /** Works on a backlog for some time. Returns the share of the capacity that was used, and the largest limit. */
  work(ms: number): { goodput: number; largest: number } {
    const end = this.clock.time + ms;
    let [successes, largest] = [0, 0];
    for (this.#start(); this.clock.time < end; this.#start()) {
      const next = this.#running.reduce((one, other) => other.at < one.at ? other : one);
      this.#running.splice(this.#running.indexOf(next), 1);
      this.clock.time = next.at;
      next.permit.end(result("succeeded", next.at - next.from));
      successes++;
      largest = Math.max(largest, limitOf(this.throttle));
    }
    return { goodput: successes * this.base / (ms * this.#capacity), largest };
  }

  #start(): void {
    const from = this.clock.time;
    for (let permit = this.throttle.acquire(); typeof permit !== "number"; permit = this.throttle.acquire()) {
      permit.begin(1);
      const work = this.base * (this.#varies ? -Math.log(1 - this.#random()) : 1);
      const slowdown = Math.max(1, (this.#running.length + 1) / this.#capacity);
      this.#running.push({ at: from + work * slowdown, from, permit });
    }
  }
}

const MINUTE = 60_000;

for (const varies of [false, true]) {
  const durations = varies ? "of exponential durations" : "of equal durations";
  Deno.test(`rule 19: gradient stays near the capacity for an hour of constant backlog, with attempts ${durations}`, () => {
    const backend = new Backend(20, varies);
    backend.work(MINUTE);
    const { goodput, largest } = backend.work(59 * MINUTE);
    assert(goodput >= 0.95, `goodput ${goodput}`);
    assert(largest <= 40, `limit ${largest}`);
  });

  Deno.test(`gradient: it learns that attempts ${durations} take more or less time than before`, () => {
    const backend = new Backend(20, varies);
    backend.work(5 * MINUTE);
    for (const base of [200, 50]) {
      backend.base = base;
      backend.work(10 * MINUTE);
      const { goodput, largest } = backend.work(10 * MINUTE);
      assert(goodput >= 0.95, `goodput ${goodput} with ${base} ms`);
      assert(largest <= 42, `limit ${largest} with ${base} ms`);
    }
  });
}

Deno.test("gradient: an overload during a probe shrinks the limit after the probe too", () => {
  const clock = new HandClock();
  const throttle = createGradientThrottle({ min: 1, max: 100, initial: 40, clock });
  let before = 0;
  while (limitOf(throttle) >= before) {
    before = limitOf(throttle);
    round(throttle, "succeeded", 50);
  }
  assert(limitOf(throttle) <= before / 3, "a probe");
  clock.time += 1000;
  attempt(throttle, "overloaded");
  assert(limitOf(throttle) < before / 4);
  for (let i = 0; limitOf(throttle) < before / 2; i++) {
    assert(i < 20, "the probe ends");
    round(throttle, "succeeded", 50);
  }
  assert(limitOf(throttle) <= 0.9 * before + 2, `${limitOf(throttle)} after ${before}`);
});

Deno.test("gradient: failures don't change the limit, and overload shrinks it by a tenth, once per mean duration", () => {
  const clock = new HandClock();
  const throttle = createGradientThrottle({ min: 1, max: 100, initial: 20, clock });
  round(throttle, "failed", 1);
  assertEquals(limitOf(throttle), 20);
  attempt(throttle, "succeeded", 1, 100);
  round(throttle, "overloaded", 0);
  assertEquals(limitOf(throttle), 18);
  clock.time += 100;
  attempt(throttle, "overloaded");
  assertEquals(limitOf(throttle), 16);
  assertEquals(throttle.snapshot!().inUse, 0);
});

Deno.test("gradient: with durations of 0, the limit grows to the maximum", () => {
  const throttle = createGradientThrottle({ min: 1, max: 10, clock: new HandClock() });
  for (let i = 0; i < 200; i++) round(throttle, "succeeded", 0);
  assertEquals(limitOf(throttle), 10);
});
