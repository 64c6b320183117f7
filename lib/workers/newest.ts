import type { Clock } from "../base/clock.ts";
import { type Attempt, controllerOf } from "./attempt.ts";

/** Maximum number of keys with aborted attempts to remember. */
const MAX_KEYS = 10_000;

/**
 * Reason of a handler's signal when the item was added again and the pool has `whileProcessing: "abort"`.
 *
 * @example Usage
 * ```ts
 * import { AddedAgainError, createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assert } from "@std/assert";
 * import { setTimeout as sleep } from "node:timers/promises";
 *
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1m" }));
 * let attempts = 0;
 * const pool = runWorkers(queue, async (_item, { signal }) => {
 *   if (++attempts > 1) return;
 *   await sleep(60_000, undefined, { signal }).catch(() => {});
 *   assert(signal.reason instanceof AddedAgainError);
 *   throw signal.reason;
 * }, { whileProcessing: "abort" });
 * queue.add("a");
 * await sleep(1);
 * queue.add("a");
 * await queue.shutDownWithDrain();
 * await pool.finished;
 * ```
 */
export class AddedAgainError extends Error {
  /** Always `"AddedAgainError"`. */
  override name = "AddedAgainError";

  /** Creates the error. */
  constructor() {
    super("The item was added again, so this attempt works on old state");
  }
}

/**
 * Aborts attempts at items that were added again, because they work on old state. An item that is added all the time
 * still gets done: some time after the first aborted attempt of a key began, its attempts run until one ends by itself.
 */
export class Newest {
  readonly #abortFor: number;
  readonly #clock: Clock;
  /** Start times of the first aborted attempts, by key, until an attempt ends by itself. */
  readonly #since = new Map<unknown, number>();

  constructor(abortFor: number, clock: Clock) {
    this.#abortFor = abortFor;
    this.#clock = clock;
  }

  /** Called when the item of a running attempt was added again. */
  addedAgain<T>(attempt: Attempt<T>): void {
    const { key, rare, worker } = attempt;
    if (rare?.timedOut !== undefined || rare?.discount !== undefined) return;
    const now = this.#clock.now();
    const since = this.#since.get(key) ?? worker.began?.time ?? now;
    if (now - since >= this.#abortFor) return;
    this.#since.set(key, since);
    if (this.#since.size > MAX_KEYS) this.#since.delete(this.#since.keys().next().value);
    controllerOf(attempt).abort(new AddedAgainError());
    attempt.rare!.discount = "addedAgain";
  }

  /** Called when an attempt has ended. */
  ended<T>({ key, rare }: Attempt<T>): void {
    if (this.#since.size > 0 && !rare?.isDiscounted) this.#since.delete(key);
  }
}
