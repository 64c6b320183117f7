/**
 * Compares the retry budget with Finagle's RetryBudget: a bucket of tokens with a window of ten seconds, written from
 * its description. Each first attempt adds tokens, each retry takes 1 / `ratio` times as many, and both leave the
 * window after ten seconds. The bucket begins with a reserve for ten seconds of `minRate`. See rule 18 for the
 * differences.
 */

import { assert, assertEquals } from "@std/assert";
import type { RetryBudgetOptions } from "@workqueue/core";
import fc from "fast-check";
import { newCredit, RetryCredit } from "../../lib/policy/retry_credit.ts";

const WINDOW = 10_000;
const SCALE = 1000;

class FinagleBudget {
  readonly #deposit: number;
  readonly #cost: number;
  readonly #reserve: number;
  /** Tokens that came or went, by the number of the slice of the window. */
  readonly #slices = new Map<number, number>();
  readonly #slice: number;

  constructor(ratio: number, minRate: number, slice = WINDOW / 10) {
    this.#deposit = ratio === 0 ? 0 : SCALE;
    this.#cost = ratio === 0 ? 1 : Math.floor(SCALE / ratio);
    this.#reserve = Math.floor(minRate * WINDOW / 1000 * this.#cost);
    this.#slice = slice;
  }

  deposit(now: number): void {
    this.#add(now, this.#deposit);
  }

  allows(now: number): boolean {
    let balance = this.#reserve;
    for (const [slice, tokens] of this.#slices) {
      if (slice > Math.floor(now / this.#slice) - WINDOW / this.#slice) balance += tokens;
    }
    return balance >= this.#cost;
  }

  take(now: number): void {
    this.#add(now, -this.#cost);
  }

  withdraw(now: number): boolean {
    const isAllowed = this.allows(now);
    if (isAllowed) this.take(now);
    return isAllowed;
  }

  #add(now: number, tokens: number): void {
    const slice = Math.floor(now / this.#slice);
    this.#slices.set(slice, (this.#slices.get(slice) ?? 0) + tokens);
  }
}

const creditOf = (options: RetryBudgetOptions) => new RetryCredit(options, newCredit(), 1000);

const RATIOS = fc.constantFrom(0.1, 0.2, 0.25, 0.5, 1, 2);

/** Steps of a load: the time since the previous step, and whether a first attempt begins or a retry is due. */
const steps = (maxGap: number) =>
  fc.array(fc.record({ gap: fc.nat(maxGap), isRetry: fc.boolean() }), { minLength: 50, maxLength: 300 });

Deno.test("rule 18: without a minimum rate, and before anything expires, the budget allows the same retries as Finagle's", () => {
  fc.assert(
    fc.property(RATIOS, steps(25), (ratio, load) => {
      const [ours, finagle] = [creditOf({ ratio, minRate: 0 }), new FinagleBudget(ratio, 0)];
      let now = 0;
      for (const { gap, isRetry } of load) {
        now += gap;
        if (isRetry) assertEquals(ours.withdraw(now), finagle.withdraw(now), `at ${now}`);
        else for (const budget of [ours, finagle]) budget.deposit(now);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

Deno.test("rule 18: with the same retries so far, the budget allows each retry that Finagle's budget allows, except its reserve", () => {
  fc.assert(
    fc.property(RATIOS, steps(1000), (ratio, load) => {
      const [ours, finagle] = [creditOf({ ratio, minRate: 0 }), new FinagleBudget(ratio, 0, 1)];
      let now = 0;
      for (const { gap, isRetry } of load) {
        now += gap + 10; // more than the time whose first attempts our budget counts together
        const isAllowed = isRetry && finagle.allows(now);
        if (!isRetry) { for (const budget of [ours, finagle]) budget.deposit(now); }
        else if (ours.withdraw(now)) finagle.take(now);
        else assert(!isAllowed, `at ${now}`);
      }
    }),
    { numRuns: 200, seed: 2 },
  );
});

Deno.test("rule 18: in a long run at 100 % failure, both budgets allow the same number of retries", () => {
  for (const [ratio, minRate] of [[0.1, 0], [0.5, 0], [0.2, 1], [0, 2], [1, 5]] as const) {
    const counts = [creditOf({ ratio, minRate }), new FinagleBudget(ratio, minRate)].map((budget) => {
      let retries = 0;
      for (let now = 0; now < 300_000; now += 50) {
        budget.deposit(now); // 20 first attempts per second
        while (budget.withdraw(now)) retries++;
      }
      return retries;
    });
    const expected = 300 * (20 * ratio + minRate);
    for (const count of counts) assert(Math.abs(count / expected - 1) < 0.05, `${ratio}, ${minRate}: ${counts}`);
  }
});

Deno.test("rule 18: Finagle's reserve allows ten seconds of the minimum rate at once, and this budget one retry", () => {
  const count = (budget: { withdraw(now: number): boolean }) => {
    let retries = 0;
    while (budget.withdraw(0)) retries++;
    return retries;
  };
  assertEquals(count(new FinagleBudget(0.1, 3)), 30);
  assertEquals(count(creditOf({ ratio: 0.1, minRate: 3 })), 1);
});
