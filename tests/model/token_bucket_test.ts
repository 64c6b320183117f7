/**
 * Comparison between a plain model and a token bucket that is sometimes paused. The model uses a bucket that is never
 * paused, like Go's. The model's bucket has its own clock, which stands still during each pause.
 *
 * `WORKQUEUE_RUNS=1000000 deno task test tests/model/` runs more operations.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import * as fc from "fast-check";
import { type Reservation, TokenBucket } from "@workqueue/core";
import { HandClock } from "../helpers.ts";

/** Number of runs. Bugs planted in levels and lines of tokens were found within 50. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 1000);

const ms = fc.nat(3000);
const n = fc.nat(4);
const rate = fc.constantFrom(0, 1, 2, 4, 1000, Infinity);
const burst = fc.nat(3);

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pass" as const), ms }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pauseFor" as const), ms: fc.integer({ min: -1, max: 5000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("resume" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("allow" as const), n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("take" as const), n }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("reserve" as const), n }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("setRate" as const), rate }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("setBurst" as const), burst }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

/** Converts a delay to whole nanoseconds, because sums of whole nanoseconds are exact. */
const ns = (ms: number) => Math.round(ms * 1e6);

/** Model of a paused bucket: its state doesn't change during a pause. */
class PlainBucket {
  #time = 0;
  #pauseEnd = 0;
  readonly #clock = new HandClock();
  readonly #bucket: TokenBucket;
  readonly #granted: {
    readonly usableAt: number;
    /** Counterpart of `usableAt` on the bucket's own clock, which stands still during a pause. */
    readonly event: number;
    readonly reservation: Reservation;
    readonly tookNone: boolean;
  }[] = [];

  constructor(rate: number, burst: number) {
    this.#bucket = new TokenBucket(rate, burst, { clock: this.#clock });
  }

  get #pauseLeft(): number {
    return Math.max(this.#pauseEnd - this.#time, 0);
  }

  pass(ms: number): void {
    this.#clock.time += Math.max(ms - this.#pauseLeft, 0);
    this.#time += ms;
  }

  pauseFor(ms: number): void {
    this.#pauseEnd = Math.max(this.#pauseEnd, this.#time + ms);
  }

  resume(): void {
    this.#pauseEnd = this.#time;
  }

  get tokens(): number {
    return this.#bucket.tokens;
  }

  allow(n: number): boolean {
    return this.#pauseLeft === 0 && this.#bucket.allow(n);
  }

  take(n: number): number {
    return this.#pauseLeft + this.#bucket.take(n);
  }

  reserve(n: number): void {
    const reservation = this.#bucket.reserve(n);
    const tookNone = this.#bucket.rate === Infinity && this.#pauseLeft > 0;
    const usableAt = ns(this.#time) + ns(this.#pauseLeft) + ns(reservation.delay);
    const event = ns(this.#clock.time) + ns(reservation.delay);
    this.#granted.push({ usableAt, event, reservation, tookNone });
  }

  /**
   * Remaining delays. A pause doesn't move the times of reservations that were already granted, so their delays are
   * measured on the real clock.
   */
  get delays(): number[] {
    return this.#granted.map(({ usableAt }) => Math.max(usableAt - ns(this.#time), 0));
  }

  /**
   * Reports whether the model can cancel this reservation. If a pause ended early, the reservation's time may have
   * passed on the bucket's own clock but not on the real clock; the model doesn't support this case.
   */
  canCancel(index: number): boolean {
    const { usableAt, event } = this.#granted[index]!;
    return usableAt < ns(this.#time) || event >= ns(this.#clock.time);
  }

  cancel(index: number): void {
    const { usableAt, reservation, tookNone } = this.#granted[index]!;
    if (usableAt >= ns(this.#time) && !tookNone) reservation.cancel();
  }

  setRate(rate: number): void {
    this.#bucket.setRate(rate);
  }

  setBurst(burst: number): void {
    this.#bucket.setBurst(burst);
  }

  atRest(): boolean {
    return this.#pauseLeft === 0 && this.#bucket.atRest();
  }
}

function compare(rate: number, burst: number, operations: readonly Operation[]): void {
  const clock = new HandClock();
  const bucket = new TokenBucket(rate, burst, { clock });
  const model = new PlainBucket(rate, burst);
  const reservations: Reservation[] = [];
  for (const operation of operations) {
    switch (operation.do) {
      case "pass":
        clock.time += operation.ms;
        model.pass(operation.ms);
        break;
      case "pauseFor":
        bucket.pauseFor(operation.ms);
        model.pauseFor(operation.ms);
        break;
      case "resume":
        bucket.resume();
        model.resume();
        break;
      case "allow":
        assertEquals(bucket.allow(operation.n), model.allow(operation.n));
        break;
      case "take":
        assertEquals(ns(bucket.take(operation.n)), ns(model.take(operation.n)));
        break;
      case "reserve":
        reservations.push(bucket.reserve(operation.n));
        model.reserve(operation.n);
        break;
      case "cancel": {
        if (reservations.length === 0) break;
        const index = operation.which % reservations.length;
        if (!model.canCancel(index)) break;
        reservations[index]!.cancel();
        model.cancel(index);
        break;
      }
      case "setRate":
        bucket.setRate(operation.rate);
        model.setRate(operation.rate);
        break;
      case "setBurst":
        bucket.setBurst(operation.burst);
        model.setBurst(operation.burst);
        break;
    }
    assertEquals(bucket.tokens, model.tokens, "tokens");
    assertEquals(bucket.atRest(), model.atRest(), "at rest");
    assertEquals(reservations.map(({ delay }) => ns(delay)), model.delays, "delays");
    assert(reservations.every(({ ok, delay }) => ok || delay === Infinity));
  }
}

Deno.test("a paused bucket acts like a bucket whose clock stood still, except for tokens already granted", () => {
  fc.assert(
    fc.property(rate, burst, fc.array(operation, { maxLength: 60, size: "max" }), compare),
    { numRuns: RUNS },
  );
});
