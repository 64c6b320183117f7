import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import type { OwnThrottle, Permit, Throttle } from "../contracts/throttle.ts";

/** Pool that takes permits from a throttle, or a throttle that takes them for its pools. */
export interface ThrottledPool {
  /** Clock that sets the timer until the pool may ask again; `undefined` if the pool asks again by itself. */
  readonly clock: Clock | undefined;
  /** Called when it is the pool's turn to ask for a permit. The pool asks at once, or gives its turn up. */
  onTurn(): void;
}

/**
 * Pools that take permits from the same throttle, and the line of pools that wait for a permit. Only the first pool in
 * the line asks, so that no pool is overtaken. A pool that has got a permit goes to the end of the line.
 */
export class ThrottleLine {
  readonly throttle: OwnThrottle;
  readonly #pools = new Set<ThrottledPool>();
  /** Pool that has asked and was refused. The others in the line are behind it. */
  #first: ThrottledPool | undefined = undefined;
  readonly #others = new Set<ThrottledPool>();
  /** Pool that may ask now, before all others. */
  #turn: ThrottledPool | undefined = undefined;
  #isServing = false;
  /** Whether something has changed since the pools in the line were last asked. */
  #hasChanged = false;
  #clearTimer: (() => void) | undefined = undefined;
  #endWatch: (() => void) | undefined = undefined;

  constructor(throttle: OwnThrottle) {
    this.throttle = throttle;
  }

  join(pool: ThrottledPool): void {
    this.#pools.add(pool);
    this.#endWatch ??= this.throttle.onChange?.(() => this.serve());
  }

  quit(pool: ThrottledPool): void {
    this.leave(pool);
    this.#pools.delete(pool);
    if (this.#pools.size > 0) return;
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  has(pool: ThrottledPool): boolean {
    return this.#first === pool || this.#others.has(pool);
  }

  /**
   * Returns a permit if no other pool is waiting and the throttle grants one. Otherwise, adds the pool to the line, and
   * returns the time in milliseconds until it may ask again; `Infinity` if it must wait for its turn.
   */
  ask(pool: ThrottledPool): Permit | number {
    if (this.#turn === pool) this.#turn = undefined;
    else if (this.#first === pool && pool.clock === undefined) this.#first = undefined;
    else if (this.#first !== undefined || this.#others.size > 0 || this.#turn !== undefined) {
      if (this.#first !== pool) this.#others.add(pool);
      return Infinity;
    }
    const answer = this.throttle.acquire();
    if (typeof answer === "number" ? !(answer >= 0) : typeof Object(answer).begin !== "function") {
      throw invalidArgument("start attempt", "acquire", "of the throttle must return a permit or milliseconds", answer);
    }
    if (typeof answer === "number") {
      this.#first ??= pool;
      if (this.#first !== pool) this.#others.add(pool); // while `acquire` ran, another pool asked and was refused
      if (pool.clock !== undefined) this.#sleep(pool.clock, answer);
    }
    return answer;
  }

  leave(pool: ThrottledPool): void {
    if (this.#first !== pool) return void this.#others.delete(pool);
    this.#first = undefined;
    this.#clearTimer?.();
    this.throttle.leave?.();
    this.serve();
  }

  /** Lets the pools in the line ask, one after the other, until one is refused. */
  serve(): void {
    this.#hasChanged = true;
    if (this.#isServing || (this.#first === undefined && this.#others.size === 0)) return;
    this.#isServing = true;
    try {
      this.#clearTimer?.();
    } finally { // even if the clock throws
      this.#serveAll();
    }
  }

  #serveAll(): void {
    try {
      while (this.#hasChanged || this.#first === undefined) {
        this.#hasChanged = false;
        const pool = this.#next();
        if (pool === undefined) break;
        this.#turn = pool;
        pool.onTurn();
        this.#turn = undefined;
      }
    } finally {
      this.#turn = undefined;
      this.#isServing = false;
    }
  }

  /** Takes the next pool out of the line. */
  #next(): ThrottledPool | undefined {
    const [pool = undefined] = this.#first === undefined ? this.#others : [this.#first];
    this.#first = undefined;
    if (pool !== undefined) this.#others.delete(pool);
    return pool;
  }

  #sleep(clock: Clock, delay: number): void {
    if (delay === Infinity) return;
    this.#clearTimer?.(); // the timer of an earlier refusal
    const timer = clock.setTimeout(() => {
      this.#clearTimer = undefined;
      this.serve();
    }, Math.min(Math.ceil(delay), MAX_TIMEOUT));
    this.#clearTimer = () => {
      this.#clearTimer = undefined;
      clock.clearTimeout(timer);
    };
  }
}

const lines = /* @__PURE__ */ new WeakMap<Throttle, ThrottleLine>();

/** Returns the line of a throttle. Every throttle has one. */
export function lineOf(throttle: OwnThrottle): ThrottleLine {
  let line = lines.get(throttle);
  if (line === undefined) lines.set(throttle, line = new ThrottleLine(throttle));
  return line;
}
