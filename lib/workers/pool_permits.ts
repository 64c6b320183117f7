import type { Clock } from "../base/clock.ts";
import type { AttemptResult, Permit, Throttle } from "../contracts/throttle.ts";
import { throttleOf, UNUSED } from "../tokens/own_throttle.ts";
import { lineOf, type ThrottledPool, type ThrottleLine } from "./throttle_line.ts";

/** Permit of an attempt, with the outcome of the attempt so far. */
export class HeldPermit {
  outcome: AttemptResult["outcome"] = "succeeded";
  readonly #permit: Permit;
  /** Permits of throttles that the pool got during the attempt. */
  #adopted: Permit[] | undefined = undefined;
  /** Clock that measures the attempt; `undefined` if the throttle makes no use of durations. */
  readonly #clock: Clock | undefined;
  readonly #beganAt: number;
  #hasEnded = false;

  constructor(permit: Permit, clock: Clock | undefined) {
    this.#permit = permit;
    this.#clock = clock;
    this.#beganAt = clock === undefined ? 0 : clock.now();
  }

  begin(cost: number): void {
    this.#permit.begin(cost);
  }

  charge(cost: number): void {
    this.#permit.charge(cost);
  }

  /** Ends the permit. Does nothing if it has ended, for example at the timeout of the attempt. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const durationMs = this.#clock === undefined ? 0 : Math.max(this.#clock.now() - this.#beganAt, 0);
    const result = { outcome: this.outcome, durationMs };
    this.#permit.end(result);
    for (const permit of this.#adopted ?? []) permit.end(result);
  }

  /** Ends another permit at the end too. */
  adopt(permit: Permit): void {
    if (this.#hasEnded) permit.end({ outcome: this.outcome, durationMs: 0 });
    else (this.#adopted ??= []).push(permit);
  }

  /** Ends the permit of an attempt that was not made. */
  endUnused(): void {
    this.#hasEnded = true;
    this.#permit.end(UNUSED);
  }
}

/** Permits of one pool, which needs a permit for each attempt. */
export class PoolPermits implements ThrottledPool {
  readonly clock: Clock;
  readonly onTurn: () => void;
  readonly #line: ThrottleLine;
  readonly #measuringClock: Clock | undefined;

  constructor(throttle: Throttle, clock: Clock, onTurn: () => void) {
    this.clock = clock;
    this.onTurn = onTurn;
    this.#line = lineOf(throttleOf(throttle));
    this.#measuringClock = this.#line.throttle.ignoresDurations ? undefined : clock;
    this.#line.join(this);
  }

  /** Whether the pool is in the line. */
  get isWaiting(): boolean {
    return this.#line.has(this);
  }

  /** Number of permits that would probably be granted now. */
  get free(): number {
    return this.#line.throttle.free ?? 1;
  }

  /** Returns a permit. If none is granted now, adds the pool to the line. */
  ask(): HeldPermit | undefined {
    const answer = this.#line.ask(this);
    return typeof answer === "number" ? undefined : new HeldPermit(answer, this.#measuringClock);
  }

  /** Ends a permit for which no item was there. */
  putBack(permit: HeldPermit): void {
    permit.endUnused();
    this.#line.serve();
  }

  /** Returns the permit of a running attempt, which may have had one of another throttle, or none. */
  adopt(held: HeldPermit | undefined): HeldPermit | undefined {
    const permit = this.#line.throttle.adopt?.();
    if (permit === undefined) return held;
    if (held === undefined) return new HeldPermit(permit, this.#measuringClock);
    held.adopt(permit);
    return held;
  }

  chargeAhead(): void {
    this.#line.throttle.charge?.(1);
  }

  /** Leaves the line. */
  leave(): void {
    this.#line.leave(this);
  }

  /** Ends the pool's use of permits. */
  end(): void {
    this.#line.quit(this);
  }
}
