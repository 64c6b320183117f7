import { requireCost } from "../base/arguments.ts";
import { GATE, setReplaceableBrand } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { retryAfterOf } from "../base/thrown.ts";
import type { Gate, GatedPool, GatePermit, OpenGate } from "../contracts/gate.ts";
import type { AttemptResult, OwnThrottle, Permit, Throttle } from "../contracts/throttle.ts";
import type { WorkLease } from "../contracts/work_source.ts";
import { soon } from "../structures/burst.ts";
import { endAll, throttleOf, UNUSED } from "./own_throttle.ts";
import { lineOf, type ThrottledPool, type ThrottleLine } from "./throttle_line.ts";

/** Permit of an attempt, with the outcome of the attempt so far. */
class HeldPermit<T> implements GatePermit<T> {
  readonly #gate: ThrottleGate<T>;
  readonly #permit: Permit;
  /** Permits of other throttles, which the pool got during the attempt. They end with this one. */
  readonly #adopted = new Map<OwnThrottle, Permit>();
  readonly #beganAt: number;
  #outcome: AttemptResult["outcome"] = "succeeded";
  #hasEnded = false;

  constructor(gate: ThrottleGate<T>, permit: Permit, beganAt: number) {
    this.#gate = gate;
    this.#permit = permit;
    this.#beganAt = beganAt;
  }

  begin(item: T): void {
    const cost = this.#gate.pool.settings.cost?.(item) ?? 1;
    requireCost("begin attempt", cost);
    this.#permit.begin(cost);
  }

  charge(cost: number): void {
    this.#permit.charge(cost);
  }

  fail(error: unknown, hasTimedOut: boolean): void {
    this.#outcome = "failed";
    const isOverload = hasTimedOut || retryAfterOf(error) > 0 || this.#gate.pool.settings.isOverload?.(error) === true;
    if (isOverload) this.#outcome = "overloaded";
  }

  end(result?: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    let now = this.#beganAt;
    try {
      if (result === undefined) now = this.#gate.now();
    } finally { // even if the clock throws, because the throttle would count the attempt forever
      result ??= { outcome: this.#outcome, durationMs: Math.max(now - this.#beganAt, 0) };
      endAll([...this.#adopted.values(), this.#permit], result);
    }
  }

  /** Takes a permit of another throttle. Does nothing if there is one already. */
  adopt(throttle: OwnThrottle): void {
    if (this.#hasEnded || throttle === this.#gate.throttle || this.#adopted.has(throttle)) return;
    const permit = throttle.adopt?.();
    if (permit) this.#adopted.set(throttle, permit);
  }
}

/**
 * Gate that asks for a permit while an item is ready, and then takes the item. If a permit is refused, the pool stands
 * in the line of the throttle, and the item stays in the queue. Only an item that the pool had to wait for is kept
 * here.
 */
class ThrottleGate<T> implements Gate<T>, ThrottledPool {
  readonly pool: GatedPool<T>;
  readonly clock: Clock;
  readonly throttle: OwnThrottle;
  needsItem = false;
  readonly #line: ThrottleLine;
  readonly #endWatch: () => void;
  /** Permit of the item that was taken last, until its attempt begins. */
  #permit: HeldPermit<T> | undefined = undefined;
  /** Item that arrived when no permit was granted. */
  #kept: WorkLease<T> | undefined = undefined;
  /** Whether an item or the end of the source is awaited with `watch`. */
  #isIdle = false;

  constructor(throttle: Throttle, pool: GatedPool<T>) {
    this.pool = pool;
    this.clock = pool.settings.clock;
    this.#endWatch = pool.source.watch(this.#look);
    this.#line = lineOf(throttleOf(throttle));
    this.throttle = this.#line.throttle;
    this.#line.join(this);
  }

  get isInLine(): boolean {
    return this.#line.has(this);
  }

  get free(): number {
    return this.throttle.free ?? 1;
  }

  onTurn(): void {
    this.pool.fill();
  }

  tryTake(): WorkLease<T> | undefined {
    const { pool } = this;
    this.needsItem = false;
    if (pool.isWaiting) return undefined;
    const { length, isOver, isRemote } = pool.source;
    const isEnd = isOver || pool.isShutDown;
    if (this.#kept !== undefined || (length === "unknown" ? !isEnd : length > 0)) {
      const permit = this.#ask();
      if (permit === undefined) return undefined;
      if (!pool.mayStart) return void this.putBack(permit); // `acquire` has paused the pool, for example
      this.#permit = permit;
    } else {
      this.#line.leave(this);
      this.#isIdle = !isRemote && !isEnd;
      if (this.#isIdle) return undefined;
    }
    this.needsItem = true;
    return this.#takeItem();
  }

  /** Takes the kept item or the next one. If there is none, gives the permit back. */
  #takeItem(): WorkLease<T> | undefined {
    let lease = this.#takeKept();
    try {
      return lease ??= this.pool.source.tryTake();
    } finally {
      const permit = lease === undefined ? this.takePermit() : undefined;
      if (permit !== undefined) this.putBack(permit);
    }
  }

  /** Returns a permit. If none is granted now, adds the pool to the line. */
  #ask(): HeldPermit<T> | undefined {
    const now = this.now(); // first, because the clock may throw
    const answer = this.#line.ask(this);
    return typeof answer === "number" ? undefined : new HeldPermit(this, answer, now);
  }

  keep(lease: WorkLease<T>): void {
    this.#kept = lease;
  }

  takeBack(): WorkLease<T> | undefined {
    this.#isIdle = false;
    this.#line.leave(this);
    return this.#takeKept();
  }

  #takeKept(): WorkLease<T> | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  takePermit(): HeldPermit<T> | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    return permit;
  }

  putBack(permit: HeldPermit<T>): void {
    permit.end(UNUSED);
    this.#line.serve();
  }

  chargeAhead(): void {
    this.throttle.charge?.(1);
  }

  adopt(held: HeldPermit<T> | undefined): HeldPermit<T> | undefined {
    const { throttle } = this;
    held?.adopt(throttle);
    const now = this.now();
    const permit = held ? undefined : throttle.adopt?.();
    return permit ? new HeldPermit(this, permit, now) : held;
  }

  end(): void {
    this.#endWatch();
    this.#line.quit(this);
  }

  /** Returns the time; 0 if the throttle makes no use of durations. */
  now(): number {
    return this.throttle.ignoresDurations ? 0 : this.clock.now();
  }

  /**
   * Called when the source has changed. Takes an item if an item or the end of the source was awaited, or if the pool
   * is in the line although no item is ready. When a remote source shuts down, hands back the items that wait.
   */
  readonly #look = (): void => {
    const { pool } = this;
    const { length, isOver, isRemote } = pool.source;
    if (isRemote && isOver) pool.takeBack();
    else if (pool.isShutDown || (this.#isIdle ? length === 0 && !isOver : length !== 0 || !this.isInLine)) return;
    this.#isIdle = false;
    soon(() => pool.fill());
  };
}

const openGate: OpenGate = (throttle, pool) => new ThrottleGate(throttle as Throttle, pool);

/**
 * Lets pools open the gate of a throttle. The function that opens it is not a class member, because bundlers would then
 * keep the class even if nothing uses it.
 */
export function setGate(throttle: object): void {
  setReplaceableBrand(throttle, GATE, openGate);
}
