/**
 * Tests of a token bucket whose rate and burst change while it is in use: a change never creates tokens.
 *
 * The tests cancel reservations as pools do: only the latest reservation, and only if no tokens have been granted
 * since. Canceling an earlier reservation uses Go's arithmetic, which assumes a constant rate.
 *
 * `WORKQUEUE_RUNS=1000000 deno task test tests/model/` runs more operations.
 */

import { assert, assertAlmostEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import type { BucketLimiter } from "@workqueue/core";
import { partContextOf } from "@workqueue/core/internal/registry";
import { bucket as bucketLimiter } from "@workqueue/core/limiters";
import { HandClock } from "../helpers.ts";

/** Number of runs. Bugs planted in levels and lines of tokens were found within 50. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 1000);

const ms = fc.nat(3000);
const n = fc.nat(4);
const figures = { rate: fc.constantFrom(0, 0.5, 1, 3, 50, 1000, Infinity), burst: fc.nat(5) };

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pass" as const), ms }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("take" as const, "allow" as const), n }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("reserve" as const), n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("update" as const), ...figures }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** Granted tokens. Times are in milliseconds. */
interface Grant {
  readonly tokens: number;
  readonly at: number;
  readonly usableAt: number;
  cancelledAt?: number;
}

/** Rate and burst that apply from the time `from` until the next change. */
interface Figures {
  readonly from: number;
  readonly rate: number;
  readonly burst: number;
}

/** Tolerance in tokens. Times are whole nanoseconds, so a token can come slightly early. */
const ROUNDING = 1e-5;

/**
 * Checks the number of tokens that are both requested and usable within a time window. This number must not exceed the
 * bucket's maximum number of tokens at the start of the window, plus the tokens that are added or returned during the
 * window.
 */
function checkWindow(from: number, to: number, grants: readonly Grant[], history: readonly Figures[]): void {
  const inForce = history.filter((each, i) => each.from <= to && (history[i + 1]?.from ?? Infinity) >= from);
  const rate = Math.max(...inForce.map((each) => each.rate));
  if (rate === Infinity) return;
  let most = Math.max(...inForce.map((each) => each.burst)) + rate * (to - from) / 1000;
  let granted = 0;
  for (const { tokens, at, usableAt, cancelledAt } of grants) {
    if (at < from && cancelledAt !== undefined && cancelledAt >= from) most += tokens;
    if (at >= from && usableAt <= to && cancelledAt === undefined) granted += tokens;
  }
  assert(granted <= most + ROUNDING, `${granted} tokens from ${from} to ${to} ms, where ${most} are the most`);
}

function run(first: { rate: number; burst: number }, operations: readonly Operation[]): void {
  const clock = new HandClock();
  const limiter = bucketLimiter.create(first, partContextOf({ clock })) as BucketLimiter;
  const { bucket } = limiter;
  const grants: Grant[] = [];
  const history: Figures[] = [{ from: 0, ...first }];
  let cancel: (() => void) | undefined;
  const grant = (tokens: number, delay: number) => {
    if (delay === Infinity) return; // these tokens are never usable
    grants.push({ tokens, at: clock.time, usableAt: clock.time + delay });
  };

  for (const operation of operations) {
    const before = bucket.tokens;
    switch (operation.do) {
      case "pass":
        clock.time += operation.ms;
        break;
      case "take":
        grant(operation.n, bucket.take(operation.n));
        cancel = undefined;
        break;
      case "allow":
        grant(operation.n, bucket.allow(operation.n) ? 0 : Infinity);
        cancel = undefined;
        break;
      case "reserve": {
        const reservation = bucket.reserve(operation.n);
        grant(operation.n, reservation.delay);
        const granted = reservation.delay < Infinity ? grants.at(-1) : undefined;
        const madeAt = bucket.rate;
        cancel = () => {
          reservation.cancel();
          const tookNone = bucket.rate === Infinity || madeAt === Infinity;
          if (granted !== undefined && !tookNone && granted.usableAt >= clock.time) granted.cancelledAt = clock.time;
        };
        break;
      }
      case "cancel":
        cancel?.();
        cancel = undefined;
        break;
      case "update":
        bucketLimiter.update!(limiter, operation, partContextOf({}));
        history.push({ from: clock.time, rate: operation.rate, burst: operation.burst });
        // A larger burst adds no tokens. A smaller burst drops the excess tokens. A debt of tokens remains.
        assertAlmostEquals(bucket.tokens, Math.min(before, operation.burst), ROUNDING);
        break;
    }
    assert(bucket.tokens <= bucket.burst);
  }

  const starts = new Set([...grants.map(({ at }) => at), ...history.map(({ from }) => from)]);
  const ends = new Set(grants.map(({ usableAt }) => usableAt));
  for (const from of starts) {
    for (const to of ends) if (to >= from) checkWindow(from, to, grants, history);
  }
}

Deno.test("updates of a bucket: no window grants more than the highest rate and burst in force allow", () => {
  fc.assert(
    fc.property(fc.record(figures), fc.array(operation, { maxLength: 40, size: "max" }), run),
    { numRuns: RUNS },
  );
});
