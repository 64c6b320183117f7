/**
 * Layer 3: a delaying queue whose rate limiter decides how long an item is delayed.
 *
 * @module
 */

import { hasMethods, requireRules } from "../base/arguments.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration, timeoutRule } from "../base/duration_arguments.ts";
import { argumentError, brokenRule, invalidArgument, limiterError } from "../base/errors.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import type { FailedStart, RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import type { AddOptions } from "../contracts/work_queue.ts";
import { Attempts } from "./attempts.ts";
import { createDelayingQueue } from "./delaying_queue.ts";
import { hooksFrom, setHooks } from "./hooks.ts";
import { withKey } from "./known_key.ts";
import { delayingRules, isWorkQueue, priorityFor, withPriority } from "./options.ts";
import { QueueLayer } from "./queue_layer.ts";

export type * from "../contracts/rate_limiter.ts";
export type * from "../contracts/rate_limiting_queue.ts";
export * from "./delaying_queue.ts";

/**
 * Creates a {@linkcode RateLimitingQueue}.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 60_000 });
 * using queue = createRateLimitingQueue<string>(limiter);
 *
 * queue.addRateLimited("a"); // after 100 ms
 * time.tick(100);
 * queue.tryGet()?.[Symbol.dispose]();
 *
 * queue.addRateLimited("a"); // after 200 ms
 * time.tick(199);
 * assertEquals(queue.length, 0);
 * time.tick(1);
 * assertEquals(queue.length, 1);
 * assertEquals(queue.numRequeues("a"), 2);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiter Decides how long an item is delayed. Several queues may share it.
 * @param options The queue's options. All are optional.
 * @returns An empty queue.
 * @throws {TypeError} If `limiter` is not a rate limiter, an option is unknown or has an invalid value, or `queue` is
 * given together with `onDrop`, `retryBudget` or an `addWhileDelayed` other than `"keep"`. In the last case, create
 * `queue` with these options instead.
 * @throws {RangeError} If an option has an invalid numeric value, such as a `maxSleep` that is out of bounds.
 * @throws Any error that the metrics provider throws when it creates a metric.
 */
export function createRateLimitingQueue<T>(
  limiter: RateLimiter<T>,
  options: RateLimitingQueueOptions<T> = {},
): RateLimitingQueue<T> {
  if (!hasMethods(limiter, "when", "forget", "numRequeues")) {
    const isConfig = typeof (limiter as { type?: unknown } | null | undefined)?.type === "string";
    const maker = isConfig ? "limiters.build(), from a config" : "createExponentialLimiter or another create…Limiter";
    const rule = `must be a rate limiter, made by ${maker}`;
    throw invalidArgument(ACTION, "limiter", rule, limiter);
  }
  requireRules(ACTION, options, {
    ...delayingRules(timeoutRule()),
    queue: [isDelayingQueue, "must be a delaying queue"],
  });
  const { queue, ...others } = options;
  const misplaced = (options.addWhileDelayed ?? "keep") !== "keep"
    ? "addWhileDelayed"
    : (["retryBudget", "onDrop"] as const).find((option) => options[option] !== undefined);
  if (queue !== undefined && misplaced !== undefined) {
    const rule = "must be set on the queue that you pass as 'queue'";
    throw argumentError(ACTION, brokenRule(misplaced, rule, options[misplaced]));
  }
  return new LimitedQueue(limiter, queue ?? createDelayingQueue(others), others);
}

const ACTION = "create rate limiting queue";
const ADD = "add item";

/** Reports whether a value has the members of a delaying queue that the layer above uses. */
function isDelayingQueue(value: unknown): boolean {
  return isWorkQueue(value) && hasMethods(value, "addAfter", "cancelDelayed") &&
    Number.isInteger((value as DelayingQueue<unknown>).delayed);
}

class LimitedQueue<T> extends QueueLayer<T, DelayingQueue<T>> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #attempts: Attempts<T>;
  /** Error of the latest call to the limiter's `when`, if the call failed. */
  #limiterFailure: { error: unknown } | undefined = undefined;

  constructor(limiter: RateLimiter<T>, below: DelayingQueue<T>, options: RateLimitingQueueOptions<T>) {
    super(below, options);
    this.#limiter = limiter;
    this.#attempts = new Attempts(limiter);
    const { hooks } = this;
    setHooks<T>(this, {
      ...hooksFrom(hooks),
      known: this.sharesKeys ? hooks.known : undefined,
      metrics: hooks.metrics ?? options.metrics,
      takesMinDelay: true,
      limiterThrew: (error) => this.#limiterFailure?.error === error,
      attempts: this.#attempts,
    });
  }

  get delayed(): number {
    return this.below.delayed;
  }

  override add(item: T, options?: AddOptions): void {
    if (options === undefined) this.below.add(item);
    else this.below.add(item, this.#passedOn(options));
  }

  addAfter(item: T, delay: Duration, options?: AddOptions): void {
    this.below.addAfter(item, delay, this.#passedOn(options));
  }

  addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    const passedOn = this.#passedOn(options, ["priority", "minDelay", "startedAt"]);
    const minDelay = requireDuration(ADD, "minDelay", options?.minDelay ?? 0);
    requireDuration(ADD, "startedAt", options?.startedAt ?? 0);
    const key = this.key(item);
    const longer = Math.max(this.#askLimiter(item, key, options && { ...options, minDelay }), minDelay);
    if (this.known === undefined) this.#addWhenAllowed(item, longer, passedOn);
    else withKey(this.known, item, key, () => this.#addWhenAllowed(item, longer, passedOn));
  }

  #askLimiter(item: T, key: unknown, attempt: FailedStart | undefined): number {
    this.#limiterFailure = undefined;
    try {
      const delay = this.#limiter.when(item, key, attempt);
      if (Number.isFinite(delay)) return delay;
      throw limiterError(ADD, "when", "of the limiter must return a finite number of milliseconds", delay);
    } catch (error) {
      this.#limiterFailure = { error };
      throw error;
    }
  }

  #addWhenAllowed(item: T, delay: number, options: AddOptions | undefined): void {
    if (this.hooks.retry !== undefined) this.hooks.retry(item, delay, options);
    else if (this.shuttingDown) this.hooks.takeBack?.(item, delay, options);
    else this.below.addAfter(item, delay, options);
  }

  cancelDelayed(item: T): boolean {
    return this.below.cancelDelayed(item);
  }

  forget(item: T): void {
    const key = this.key(item);
    this.#attempts.delete(key);
    this.hooks.forgotten?.(item);
    this.#limiter.forget(item, key);
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item, this.key(item));
  }

  #passedOn(options: AddOptions | undefined, known?: readonly string[]): AddOptions | undefined {
    return withPriority(priorityFor(this.below, options, known));
  }
}
