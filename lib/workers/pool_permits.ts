import type { Clock } from "../base/clock.ts";
import type { AttemptResult, OwnThrottle, Permit, Throttle } from "../contracts/throttle.ts";
import { throttleOf } from "../tokens/own_throttle.ts";
import { lineOf, type ThrottledPool, type ThrottleLine } from "./throttle_line.ts";

/** Permit of an attempt, with the outcome of the attempt so far. */
export class HeldPermit {
  outcome: AttemptResult["outcome"] = "succeeded";
  readonly #throttle: OwnThrottle;
  readonly #permit: Permit;
  /** Permit of another throttle, which the pool got during the attempt. */
  #adopted: HeldPermit | undefined = undefined;
  /** Clock that measures the attempt; `undefined` if the throttle makes no use of durations. */
  readonly #clock: Clock | undefined;
  readonly #beganAt: number;
  #hasEnded = false;

  constructor(throttle: OwnThrottle, permit: Permit, clock: Clock | undefined, beganAt: number) {
    this.#throttle = throttle;
    this.#permit = permit;
    this.#clock = clock;
    this.#beganAt = beganAt;
  }

  begin(cost: number): void {
    this.#permit.begin(cost);
  }

  charge(cost: number): void {
    this.#permit.charge(cost);
  }

  /** Ends the permit. Does nothing if it has ended, for example at the timeout of the attempt. */
  end(result?: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    let now = this.#beganAt;
    try {
      if (result === undefined) now = this.#clock?.now() ?? 0;
    } finally { // even if the clock throws, because the throttle would count the attempt forever
      result ??= { outcome: this.outcome, durationMs: Math.max(now - this.#beganAt, 0) };
      try {
        this.#adopted?.end(result);
      } finally { // a third-party throttle may throw
        this.#permit.end(result);
      }
    }
  }

  /** Takes a permit of another throttle, which ends with this one. Does nothing if there is one already. */
  adopt(throttle: OwnThrottle): void {
    if (this.#hasEnded || throttle === this.#throttle) return;
    if (this.#adopted) return this.#adopted.adopt(throttle);
    const permit = throttle.adopt?.();
    if (permit) this.#adopted = new HeldPermit(throttle, permit, undefined, 0);
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
    const now = this.#now(); // first, because the clock may throw
    const answer = this.#line.ask(this);
    return typeof answer === "number" ? undefined : this.#hold(answer, now);
  }

  /** Lets other pools ask after a permit was given back. */
  serveOthers(): void {
    this.#line.serve();
  }

  /** Returns the permit of a running attempt, which may have had one of another throttle, or none. */
  adopt(held: HeldPermit | undefined): HeldPermit | undefined {
    const { throttle } = this.#line;
    held?.adopt(throttle);
    const now = this.#now();
    const permit = held ? undefined : throttle.adopt?.();
    return permit ? this.#hold(permit, now) : held;
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

  #now(): number {
    return this.#measuringClock?.now() ?? 0;
  }

  #hold(permit: Permit, now: number): HeldPermit {
    return new HeldPermit(this.#line.throttle, permit, this.#measuringClock, now);
  }
}
