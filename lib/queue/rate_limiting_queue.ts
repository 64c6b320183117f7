/**
 * Layer 3: a delaying queue that asks a rate limiter how long an item has to wait.
 *
 * @module
 */

import { hasMethods, requireRules } from "../base/arguments.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { brokenRule, invalidArgument } from "../base/errors.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import type { AddOptions } from "../contracts/work_queue.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { priorityFor, withPriority } from "./add_options.ts";
import { delayingRules } from "./delaying_options.ts";
import { createDelayingQueue } from "./delaying_queue.ts";
import { setHooks } from "./hooks.ts";
import { setQueueInspection } from "./queue_inspection.ts";
import { QueueLayer } from "./queue_layer.ts";

export type * from "../contracts/rate_limiter.ts";
export type * from "../contracts/rate_limiting_queue.ts";
export * from "./delaying_queue.ts";

/**
 * Makes a {@linkcode RateLimitingQueue}.
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
 * @param limiter Says how long an item waits. It may be shared by queues.
 * @param options The queue's options; all may be left out.
 * @returns An empty queue.
 * @throws {TypeError} If `limiter` is no rate limiter, or an option unknown or not what it should be; or if `whileWaiting`
 * is `"replace"` beside a queue of your own, or over one that cannot tell what is ready.
 * @throws {RangeError} If `maxWait` is out of its bounds.
 */
export function createRateLimitingQueue<T>(
  limiter: RateLimiter<T>,
  options: RateLimitingQueueOptions<T> = {},
): RateLimitingQueue<T> {
  if (!hasMethods(limiter, "when", "forget", "numRequeues")) {
    throw invalidArgument(ACTION, "limiter", "must be a rate limiter", limiter);
  }
  requireRules(ACTION, options, {
    ...delayingRules(),
    queue: [(value: unknown) => hasMethods(value, "addAfter"), "must be a delaying queue"],
  });
  const { queue, ...others } = options;
  if (queue !== undefined && options.whileWaiting === "replace") {
    const rule = "must be given to the delaying queue, where that is one of your own";
    throw new TypeError(`Cannot ${ACTION} as ${brokenRule("whileWaiting", rule, options.whileWaiting)}`);
  }
  return new LimitedQueue(limiter, queue ?? createDelayingQueue(others), others);
}

const ACTION = "create rate limiting queue";
class LimitedQueue<T> extends QueueLayer<T, DelayingQueue<T>> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #attempts = new ChurnMap<unknown, number>();

  constructor(limiter: RateLimiter<T>, below: DelayingQueue<T>, options: RateLimitingQueueOptions<T>) {
    super(below, options);
    this.#limiter = limiter;
    const { hooks } = this;
    setHooks<T>(this, {
      newest: (item) => hooks.newest?.(item),
      takesBack: (item) => hooks.takesBack?.(item) ?? false,
      takeBack: (item, delay, options) => hooks.takeBack?.(item, delay, options),
      dueAt: (item) => hooks.dueAt?.(item),
      nextDueAt: () => hooks.nextDueAt?.(),
      ...(hooks.watch && { watch: (callback) => hooks.watch!(callback) }),
      metrics: hooks.metrics ?? options.metrics,
      takesAtLeast: true,
      attempts: this.#attempts,
    });
    setQueueInspection(LimitedQueue.prototype, "RateLimitingQueue");
  }

  get waiting(): number {
    return this.below.waiting;
  }

  override add(item: T, options?: AddOptions): void {
    if (options === undefined) this.below.add(item);
    else this.below.add(item, this.#passedOn(options));
  }

  addAfter(item: T, delay: Duration, options?: AddOptions): void {
    if (options === undefined) this.below.addAfter(item, delay);
    else this.below.addAfter(item, delay, this.#passedOn(options));
  }

  addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    let atLeast = 0;
    let passedOn: AddOptions | undefined;
    if (options !== undefined) {
      passedOn = this.#passedOn(options, ["priority", "atLeast"]);
      if (options.atLeast !== undefined) atLeast = requireDuration("add item", "atLeast", options.atLeast);
    }
    const delay = this.#limiter.when(item, this.key(item));
    if (!Number.isFinite(delay)) {
      throw invalidArgument("add item", "when", "of the limiter must return a finite number of milliseconds", delay);
    }
    const longer = Math.max(delay, atLeast);
    if (this.shuttingDown) this.hooks.takeBack?.(item, longer, passedOn);
    else this.below.addAfter(item, longer, passedOn);
  }

  cancelAfter(item: T): boolean {
    return this.below.cancelAfter(item);
  }

  forget(item: T): void {
    const key = this.key(item);
    this.#attempts.delete(key);
    this.#limiter.forget(item, key);
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item, this.key(item));
  }

  #passedOn(options: AddOptions, known?: readonly string[]): AddOptions | undefined {
    return withPriority(priorityFor(this.below, options, known));
  }
}
