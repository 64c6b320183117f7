import { requireCost } from "../base/arguments.ts";
import { GATE, setReplaceableBrand } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { askedBy } from "../base/thrown.ts";
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
  #adopted: Map<OwnThrottle, Permit> | undefined = undefined;
  /** Time of the grant; `undefined` if the throttle ignores durations. */
  readonly #beganAt: number | undefined;
  #outcome: AttemptResult["outcome"] = "succeeded";
  /** Cost that the attempt was charged so far. */
  #booked = 0;
  #hasEnded = false;

  constructor(gate: ThrottleGate<T>, permit: Permit, beganAt: number | undefined) {
    this.#gate = gate;
    this.#permit = permit;
    this.#beganAt = beganAt;
  }

  begin(item: T): void {
    const { cost } = this.#gate.pool.settings;
    const booked = cost === undefined ? 1 : cost(item) ?? 1;
    if (cost !== undefined) requireCost("begin attempt", booked);
    this.#booked = booked;
    this.#permit.begin(booked);
  }

  charge(cost: number): void {
    const more = Math.max(cost, -this.#booked);
    this.#booked += more;
    if (more !== 0) this.#permit.charge(more);
  }

  fail(error: unknown, hasTimedOut: boolean): void {
    this.#outcome = "failed";
    const isOverload = hasTimedOut || askedBy(error).minDelay > 0 ||
      this.#gate.pool.settings.isOverload?.(error) === true;
    if (isOverload) this.#outcome = "overloaded";
  }

  putBack(): void {
    this.end(UNUSED);
    this.#gate.serve();
  }

  end(result?: AttemptResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const beganAt = this.#beganAt;
    let durationMs = 0;
    try {
      if (result === undefined && beganAt !== undefined) durationMs = Math.max(this.#gate.clock.now() - beganAt, 0);
    } finally { // even if the clock throws, because the throttle would count the attempt forever
      result ??= { outcome: this.#outcome, durationMs };
      if (this.#adopted === undefined) this.#permit.end(result);
      else endAll([...this.#adopted.values(), this.#permit], result);
    }
  }

  /** Takes a permit of another throttle. Does nothing if there is one already. */
  adopt(throttle: OwnThrottle): void {
    if (this.#hasEnded || throttle === this.#gate.throttle || this.#adopted?.has(throttle)) return;
    const permit = throttle.adopt?.();
    if (permit) (this.#adopted ??= new Map()).set(throttle, permit);
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
  readonly #isRemote: boolean;
  /**
   * Ends the watch of the source. A local source is watched from the time when the pool must await an item or a permit,
   * until an item comes.
   */
  #endWatch: (() => void) | undefined = undefined;
  /** Permit of the item that was taken last, until its attempt begins. */
  #permit: HeldPermit<T> | undefined = undefined;
  /** Item that arrived when no permit was granted. */
  #kept: WorkLease<T> | undefined = undefined;
  /** Whether an item or the end of the source is awaited with `watch`, possibly while handlers take others. */
  #isIdle = false;

  constructor(throttle: Throttle, pool: GatedPool<T>) {
    this.pool = pool;
    this.clock = pool.settings.clock;
    this.#isRemote = pool.source.isRemote;
    if (this.#isRemote) this.#watch();
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
    const { source } = pool;
    this.needsItem = false;
    if (pool.isWaiting) return undefined;
    const length = this.#kept === undefined ? source.length : 1;
    if (length === 0 || length === "unknown") {
      const isEnd = source.isOver || pool.isShutDown;
      if (length === 0 || isEnd) {
        this.#line.leave(this);
        this.#isIdle = !this.#isRemote && !isEnd;
        if (!this.#isIdle) this.needsItem = true;
        else if (this.#watch() && source.length !== 0) this.#look(); // an item has become ready because time has passed
        return undefined;
      }
    }
    const now = this.#now(); // first, because the clock may throw
    const answer = this.#line.ask(this);
    if (typeof answer === "number") return void this.#watch();
    const permit = new HeldPermit(this, answer, now);
    if (!pool.mayStart) return void permit.putBack(); // `acquire` has paused the pool, for example
    this.needsItem = true;
    let lease = this.#kept; // not before `acquire`, which may have made the pool hand the item back
    this.#kept = undefined;
    try {
      lease ??= source.tryTake();
    } finally {
      if (lease === undefined) permit.putBack();
      else this.#permit = permit;
    }
    return lease;
  }

  keep(lease: WorkLease<T>): void {
    this.#kept = lease;
  }

  takeBack(): WorkLease<T> | undefined {
    this.#isIdle = false;
    this.#line.leave(this);
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  takePermit(): HeldPermit<T> | undefined {
    const permit = this.#permit;
    this.#permit = undefined;
    return permit;
  }

  /** Lets the pools in the line ask. */
  serve(): void {
    this.#line.serve();
  }

  chargeAhead(): void {
    this.throttle.charge?.(1);
  }

  adopt(held: HeldPermit<T> | undefined): HeldPermit<T> | undefined {
    const { throttle } = this;
    held?.adopt(throttle);
    const now = this.#now();
    const permit = held ? undefined : throttle.adopt?.();
    return permit ? new HeldPermit(this, permit, now) : held;
  }

  end(): void {
    this.#unwatch();
    this.#line.quit(this);
  }

  /** Returns the time; `undefined` if the throttle ignores durations. */
  #now(): number | undefined {
    return this.throttle.ignoresDurations ? undefined : this.clock.now();
  }

  /** Watches the source. Reports whether the watch is new. */
  #watch(): boolean {
    if (this.#endWatch !== undefined) return false;
    this.#endWatch = this.pool.source.watch(this.#look);
    return true;
  }

  #unwatch(): void {
    const end = this.#endWatch;
    this.#endWatch = undefined; // first, because the clock may throw
    end?.();
  }

  /**
   * Called when the source has changed. Takes an item if an item or the end of the source was awaited, or if the pool
   * is in the line although no item is ready. When a remote source shuts down, hands back the items that wait.
   */
  readonly #look = (): void => {
    const { pool } = this;
    const { length, isOver } = pool.source;
    if (this.#isRemote && isOver) pool.takeBack();
    else if (pool.isShutDown || (this.#isIdle ? length === 0 && !isOver : length !== 0 || !this.isInLine)) return;
    this.#isIdle = false;
    soon(() => pool.fill());
    if (!this.#isRemote) this.#unwatch();
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
