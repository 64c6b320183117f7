import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { argumentError, limiterError } from "../base/errors.ts";
import { DISCARD, LIST_GIVEN_UP, REDRIVE } from "../base/given_up_arguments.ts";
import { limiterKey } from "../base/keys.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import type {
  GivenUpOptions,
  GivenUpPage,
  GivenUpSelection,
  RedriveOptions,
  RedriveProgress,
} from "../contracts/given_up.ts";
import type { QueueHooks } from "../contracts/queue_hooks.ts";
import type { FailedStart, RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import type { AddOptions } from "../contracts/work_queue.ts";
import { Attempts } from "./attempts.ts";
import { hooksFrom, setHooks } from "./hooks.ts";
import { withKey } from "./known_key.ts";
import { priorityFor, withPriority } from "./options.ts";
import { QueueLayer } from "./queue_layer.ts";

const ADD = "add item";

/** Layer 3: adds items to the queue below after the delay that the limiter returns. */
export class LimitedQueue<T> extends QueueLayer<T, DelayingQueue<T>> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #attempts: Attempts<T>;
  /** Error of the latest call to the limiter's `when`, if the call failed. */
  #limiterFailure: { error: unknown } | undefined = undefined;

  constructor(
    limiter: RateLimiter<T>,
    below: DelayingQueue<T>,
    options: RateLimitingQueueOptions<T>,
    attempts: Attempts<T> = new Attempts(limiter),
  ) {
    super(below, options);
    this.#limiter = limiter;
    this.#attempts = attempts;
    const { hooks } = this;
    setHooks<T>(this, {
      ...hooksFrom(hooks),
      known: this.sharesKeys ? hooks.known : undefined,
      metrics: hooks.metrics ?? options.metrics,
      takesMinDelay: true,
      limiterThrew: (error) => this.#limiterFailure?.error === error,
      attempts: this.#attempts,
      ...this.moreHooks(),
    });
  }

  /** Returns the hooks that a subclass adds. Called by the constructor, so only the hooks may use the subclass. */
  protected moreHooks(): QueueHooks<T> {
    return {};
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
      const delay = this.#limiter.when(item, limiterKey(key), attempt);
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
    this.#limiter.forget(item, limiterKey(key));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item, limiterKey(this.key(item)));
  }

  givenUp(_options?: GivenUpOptions): Promise<GivenUpPage<T>> {
    return keepsNone(LIST_GIVEN_UP);
  }

  redrive(_options?: RedriveOptions): Promise<RedriveProgress> {
    return keepsNone(REDRIVE);
  }

  redriveProgress(): Promise<RedriveProgress | undefined> {
    return Promise.resolve(undefined);
  }

  stopRedrive(): Promise<RedriveProgress | undefined> {
    return this.redriveProgress();
  }

  discard(_options?: GivenUpSelection): Promise<number> {
    return keepsNone(DISCARD);
  }

  #passedOn(options: AddOptions | undefined, known?: readonly string[]): AddOptions | undefined {
    return withPriority(priorityFor(this.below, options, known));
  }
}

/** Returns a promise that rejects, for a queue that keeps no given-up items. */
function keepsNone(action: string): Promise<never> {
  return Promise.reject(argumentError(action, "the queue keeps none; set the option 'keepGivenUp'", Error));
}
