import { requireDuration } from "../base/duration_arguments.ts";
import { argumentError, limiterError } from "../base/errors.ts";
import { DISCARD, LIST_GIVEN_UP, REDRIVE } from "../base/given_up_arguments.ts";
import { limiterKey } from "../base/keys.ts";
import type {
  GivenUpOptions,
  GivenUpPage,
  GivenUpSelection,
  RedriveOptions,
  RedriveProgress,
} from "../contracts/given_up.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { QueueHooks } from "../contracts/queue_hooks.ts";
import type { FailedStart, RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import { Attempts } from "./attempts.ts";
import { DelayedQueue } from "./delayed_queue.ts";
import { priorityOf } from "./options.ts";

const ADD = "add item";

/** Layer 3: delays items as long as the limiter says. */
export class LimitedQueue<T> extends DelayedQueue<T> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #attempts: Attempts<T>;
  /** Error of the latest call to the limiter's `when`, if the call failed. */
  #limiterFailure: { error: unknown } | undefined = undefined;

  constructor(
    limiter: RateLimiter<T>,
    options: RateLimitingQueueOptions<T>,
    attempts: Attempts<T> = new Attempts(limiter),
  ) {
    super(options);
    this.#limiter = limiter;
    this.#attempts = attempts;
  }

  protected override hooks(metrics: MetricsProvider | undefined): QueueHooks<T> {
    const attempts = () => this.#attempts;
    const hooks: QueueHooks<T> = {
      takesMinDelay: true,
      limiterThrew: (error) => this.#limiterFailure?.error === error,
      get attempts() {
        return attempts();
      },
    };
    return Object.assign(hooks, super.hooks(metrics));
  }

  addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    const priority = priorityOf(options, ["priority", "minDelay", "startedAt"]);
    const minDelay = requireDuration(ADD, "minDelay", options?.minDelay ?? 0);
    requireDuration(ADD, "startedAt", options?.startedAt ?? 0);
    const key = this.key(item);
    const delay = this.#askLimiter(item, key, options && { ...options, minDelay });
    this.retryAfter(key, item, Math.max(delay, minDelay), priority);
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

  forget(item: T): void {
    const key = this.key(item);
    this.#attempts.delete(key);
    this.endFolding(key);
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
}

/** Returns a promise that rejects, for a queue that keeps no given-up items. */
function keepsNone(action: string): Promise<never> {
  return Promise.reject(argumentError(action, "the queue keeps none; set the option 'keepGivenUp'", Error));
}
