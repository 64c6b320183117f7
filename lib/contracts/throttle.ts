/**
 * Decides whether one more attempt may start.
 *
 * Pass a throttle of your own through `adaptThrottle` before you pass it to a pool.
 *
 * Any number of pools can share a throttle. Pools that wait for the same throttle stand in one line, and only the first
 * pool in the line calls `acquire`.
 */
export interface Throttle {
  /**
   * Asks for a permit to start one attempt.
   *
   * @returns A permit. If no attempt may start now, the milliseconds after which to ask again; `Infinity` to ask again
   * only after a change.
   */
  acquire(): Permit | number;

  /**
   * Calls `callback` when a refused pool should ask again earlier than `acquire` said. Returns an unsubscribe function.
   * The throttle must not call `callback` when a permit ends with the outcome `"unused"` in the same turn in which it
   * was acquired, because otherwise two pools could acquire and give back permits forever.
   */
  onChange?(callback: () => void): () => void;

  /** Returns the state of the throttle, for displays. */
  snapshot?(): ThrottleSnapshot;
}

/** Throttle of this package, with members that only pools and other throttles use. */
export interface OwnThrottle extends Throttle {
  /** Whether the throttle ignores durations, so that pools need not read the clock for it. */
  readonly ignoresDurations?: boolean;
  /** Number of permits that `acquire` would probably grant now. A pool waits for as many items at once. Default: 1. */
  readonly free?: number | undefined;
  /** Called when no pool waits for the throttle any more. */
  leave?(): void;
  /** Charges the cost of an attempt that starts without a permit. */
  charge?(cost: number): void;
  /** Returns a permit for an attempt that is running already, even if the throttle would refuse one. */
  adopt?(): Permit;
}

/**
 * Right to start one attempt. A pool acquires a permit when an item is ready, and ends the permit when the attempt
 * ends, so an idle pool has no permits.
 */
export interface Permit {
  /** Called when the attempt begins. `cost` is what the pool's `cost` returned for the item; 1 by default. */
  begin(cost: number): void;
  /**
   * Called when the handler changes the cost with `context.charge`, which may be after `end` if it timed out. A
   * negative cost gives back a part of what the attempt was charged.
   */
  charge(cost: number): void;
  /** Called once, when the attempt has ended, or when no item was there for the permit. */
  end(result: AttemptResult): void;
}

/** Result of an attempt, as a throttle sees it. */
export interface AttemptResult {
  /**
   * - `"succeeded"`: the handler returned;
   * - `"failed"`: the handler threw;
   * - `"overloaded"`: the attempt timed out, the handler threw a `RetryAfterError`, or `isOverload` returned `true`;
   * - `"unused"`: no attempt was made.
   */
  readonly outcome: "succeeded" | "failed" | "overloaded" | "unused";
  /** Duration of the attempt in milliseconds; 0 if no attempt was made. */
  readonly durationMs: number;
}

/** State of a throttle at one moment. */
export interface ThrottleSnapshot {
  /** Largest number of attempts that may run at once; `Infinity` if the throttle has no such limit. */
  readonly limit: number;
  /** Number of permits that have not ended; 0 if the throttle does not count them. */
  readonly inUse: number;
  /** State in words, such as `"open for 12 s: 14 of 20 attempts failed"`. */
  readonly state: string;
}
