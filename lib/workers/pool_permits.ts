import type { Clock } from "../base/clock.ts";
import type { AttemptResult, OwnThrottle, Permit, Throttle } from "../contracts/throttle.ts";
import { endAll, throttleOf, UNUSED } from "../tokens/own_throttle.ts";
import { lineOf, type ThrottledPool, type ThrottleLine } from "./throttle_line.ts";

/** Permit of an attempt, with the outcome of the attempt so far. */
export class HeldPermit {
  outcome: AttemptResult["outcome"] = "succeeded";
  readonly #throttle: OwnThrottle;
  readonly #permit: Permit;
  /** Permits of throttles that the pool got during the attempt; `undefined` if it got none. */
  #adopted: Map<OwnThrottle, Permit> | undefined = undefined;
  /** Clock that measures the attempt; `undefined` if the throttle makes no use of durations. */
  readonly #clock: Clock | undefined;
  readonly #beganAt: number;
  #hasEnded = false;

  constructor(throttle: OwnThrottle, permit: Permit, clock: Clock | undefined) {
    this.#throttle = throttle;
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
    if (this.#adopted === undefined) this.#permit.end(result);
    else endAll([this.#permit, ...this.#adopted.values()], result);
  }

  /** Takes a permit of another throttle, which ends with this one. Does nothing if there is one already. */
  adopt(throttle: OwnThrottle): void {
    if (this.#hasEnded || throttle === this.#throttle || this.#adopted?.has(throttle)) return;
    const permit = throttle.adopt?.();
    if (permit !== undefined) (this.#adopted ??= new Map()).set(throttle, permit);
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
    return typeof answer === "number" ? undefined : this.#hold(answer);
  }

  /** Ends a permit for which no item was there. */
  putBack(permit: HeldPermit): void {
    permit.endUnused();
    this.#line.serve();
  }

  /** Returns the permit of a running attempt, which may have had one of another throttle, or none. */
  adopt(held: HeldPermit | undefined): HeldPermit | undefined {
    const { throttle } = this.#line;
    if (held !== undefined) {
      held.adopt(throttle);
      return held;
    }
    const permit = throttle.adopt?.();
    return permit === undefined ? undefined : this.#hold(permit);
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

  #hold(permit: Permit): HeldPermit {
    return new HeldPermit(this.#line.throttle, permit, this.#measuringClock);
  }
}
