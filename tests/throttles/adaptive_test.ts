/** Throttles that adapt the number of attempts at once. */

import { assert, assertEquals } from "@std/assert";
import { createAimdThrottle, createGradientThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { attempt, begin, limitOf, result, round } from "./helpers.ts";

Deno.test("aimd: one more after each round of successes, up to the maximum", () => {
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

Deno.test("aimd: it does not grow while less than 80 % of it is in use, nor by failures", () => {
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

Deno.test("aimd: plain failures change nothing, so five per cent of bad items don't shrink it", () => {
  const throttle = createAimdThrottle({ min: 1, max: 20, initial: 20, clock: new HandClock() });
  for (let i = 0; i < 2000; i++) attempt(throttle, i % 20 === 0 ? "failed" : "succeeded");
  assertEquals(limitOf(throttle), 20);
});

Deno.test("aimd: overload shrinks it by a tenth, once in the mean duration, down to the minimum", () => {
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

/** The rules of Netflix's Gradient2Limit with a WindowedLimit, in their own notation. Windows end after a count. */
class Gradient2 {
  limit: number;
  #long = 0;
  #sum = 0;
  #count = 0;
  #window = { sum: 0, count: 0, maxInFlight: 0 };

  constructor(initial: number, readonly min: number, readonly max: number) {
    this.limit = initial;
  }

  sample(rtt: number, inFlight: number): void {
    const window = this.#window;
    window.sum += rtt;
    window.maxInFlight = Math.max(window.maxInFlight, inFlight);
    if (++window.count < Math.max(10, Math.floor(this.limit))) return;
    this.#window = { sum: 0, count: 0, maxInFlight: 0 };
    this.#update(window.sum / window.count, window.maxInFlight);
  }

  #update(rtt: number, inFlight: number): void {
    if (this.#count < 10) {
      this.#sum += rtt;
      this.#long = this.#sum / ++this.#count;
    } else {
      const factor = 2 / 601;
      this.#long = this.#long * (1 - factor) + rtt * factor;
    }
    const long = this.#long;
    if (long / rtt > 2) this.#long *= 0.95;
    if (inFlight < this.limit / 2) return;
    const gradient = Math.max(0.5, Math.min(1, 1.5 * long / rtt));
    const next = this.limit * 0.8 + (this.limit * gradient + 4) * 0.2;
    this.limit = Math.max(this.min, Math.min(this.max, next));
  }
}

Deno.test("gradient: it follows the published update rules", () => {
  let seed = 1;
  const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
  for (let run = 0; run < 20; run++) {
    const throttle = createGradientThrottle({ min: 2, max: 100, initial: 10, clock: new HandClock() });
    const model = new Gradient2(10, 2, 100);
    const running: { permit: ReturnType<typeof begin>; inFlight: number }[] = [];
    let base = 20;
    for (let i = 0; i < 3000; i++) {
      if (random() < 0.01) base = 5 + random() * 500;
      if (random() < 0.6 && running.length < limitOf(throttle)) {
        running.push({ permit: begin(throttle), inFlight: running.length + 1 });
      } else if (running.length > 0) {
        const [{ permit, inFlight }] = running.splice(Math.floor(random() * running.length), 1) as [typeof running[0]];
        const rtt = base * (0.5 + random());
        permit.end(result("succeeded", rtt));
        model.sample(rtt, inFlight);
      }
      const difference = model.limit - limitOf(throttle); // the limit is rounded down, and sums are rounded
      assert(difference > -1e-9 && difference < 1 + 1e-9, `run ${run}, step ${i}: ${difference}`);
    }
  }
});

Deno.test("gradient: failures teach it nothing, and overload shrinks it by a tenth once in the mean duration", () => {
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

Deno.test("gradient: a duration of 0 is no slope", () => {
  const throttle = createGradientThrottle({ min: 1, max: 10, clock: new HandClock() });
  for (let i = 0; i < 200; i++) round(throttle, "succeeded", 0);
  assertEquals(limitOf(throttle), 10);
});
