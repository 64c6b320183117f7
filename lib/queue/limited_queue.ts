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
import type { FailedStart, RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import type { GivenUpEnding } from "../contracts/work_source.ts";
import { FailureRecords } from "../structures/failure_records.ts";
import { NONE, RecordList } from "../structures/records.ts";
import { DelayedQueue } from "./delayed_queue.ts";
import { priorityOf } from "./options.ts";
import { COUNTED, FAILING, POSITION, REMEMBERED } from "./positions.ts";
import type { RecordLease } from "./record_queue.ts";

const ADD = "add item";

/** Delay, in milliseconds, of an item that could not be added again with the limiter's delay. */
const RETRY_DELAY = 1000;

/**
 * Number of remembered keys that are checked for each attempt that is remembered. If only one were checked, new keys
 * could be added as fast as expired keys are removed.
 */
const LOOKS = 2;

/**
 * Layer 3: delays items as long as the limiter says. Remembers the number of attempts of pools at each key that has
 * failed, until the key is forgotten by `forget`, or by the limiter after a time (`forgetAfter`).
 */
export class LimitedQueue<T> extends DelayedQueue<T> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;
  protected readonly failures: FailureRecords;
  /** Records of the remembered keys, in the order in which they are checked for expiry. */
  readonly #remembered: RecordList;
  /** Number of keys whose last attempt failed. Includes keys that expired and were not forgotten yet. */
  failing = 0;
  /** Callbacks of `watchForgotten`; `undefined` until it is first called. */
  #watchers: Set<(key: unknown) => void> | undefined = undefined;

  constructor(limiter: RateLimiter<T>, options: RateLimitingQueueOptions<T>) {
    super(options);
    this.#limiter = limiter;
    this.failures = new FailureRecords(this.records);
    this.#remembered = new RecordList(this.failures);
  }

  addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    const priority = priorityOf(options, ["priority", "minDelay", "startedAt"]);
    const minDelay = requireDuration(ADD, "minDelay", options?.minDelay ?? 0);
    requireDuration(ADD, "startedAt", options?.startedAt ?? 0);
    const key = this.key(item);
    const delay = this.#askLimiter(item, key, options && { ...options, minDelay });
    this.retryAfter(this.records.of(key), key, item, Math.max(delay, minDelay), priority, false);
  }

  #askLimiter(item: T, key: unknown, attempt: FailedStart | undefined): number {
    const delay = this.#limiter.when(item, limiterKey(key), attempt);
    if (Number.isFinite(delay)) return delay;
    throw limiterError(ADD, "when", "of the limiter must return a finite number of milliseconds", delay);
  }

  forget(item: T): void {
    const key = this.key(item);
    this.#forget(this.#mayRemember ? this.records.of(key) : NONE, key, item);
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

  /** Begins an attempt. Returns its number, from 1. */
  begin(lease: RecordLease<T>): number {
    if (this.#remembered.first === NONE) return 1; // the common case: nothing has failed
    const { key, item } = lease;
    const record = this.recordOfLease(lease);
    const attempts = this.#isRemembered(record, item) ? this.failures.attemptsOf(record) : 0;
    if (attempts > 0) {
      try {
        this.#limiter.begin?.(item, limiterKey(key));
      } catch {
        // The limiter then judges the attempt without knowing when it began.
      }
    }
    return attempts + 1;
  }

  /**
   * Adds an item again after the limiter's delay or after `minDelay` milliseconds, whichever is longer. Throws only if
   * the limiter throws. Any other error is reported, and the item loses at most its delay.
   */
  retry(
    lease: RecordLease<T>,
    minDelay: number,
    priority: number,
    hasFailed: boolean,
    report: (error: unknown) => void,
  ): void {
    const { key, item } = lease;
    const delay = Math.max(this.#askLimiter(item, key, minDelay > 0 ? { minDelay } : undefined), minDelay);
    try {
      this.retryAfter(this.recordOfLease(lease), key, item, delay, priority, hasFailed);
    } catch (error) {
      report(error);
      this.#retryWithoutLimiter(lease, Math.max(minDelay, RETRY_DELAY), priority, hasFailed);
    }
  }

  /**
   * Adds an item of a pool again without calling the limiter, which has already counted the failure. If that fails as
   * well, adds the item without a delay, because retrying it too early is better than losing it.
   */
  #retryWithoutLimiter(lease: RecordLease<T>, delay: number, priority: number, hasFailed: boolean): void {
    const record = this.recordOfLease(lease);
    try {
      if (this.ignoresAdds && !this.takesBack(record)) return;
      this.delayItem(record, lease.key, lease.item, delay, priority, 0, hasFailed);
    } catch {
      this.handBack(lease);
    }
  }

  /** Adds an item again after the delay that its handler requested. */
  requeueAfter(lease: RecordLease<T>, delay: number, priority: number): void {
    if (!this.ignoresAdds) this.delayItem(this.recordOfLease(lease), lease.key, lease.item, delay, priority);
  }

  /**
   * Remembers the number of attempts at a key, and whether the last one failed. Must be called right after the `when`
   * of the limiter.
   */
  remember(lease: RecordLease<T>, attempts: number, hasFailed: boolean): void {
    const { key, item } = lease;
    const { records } = this;
    const forgets = this.#forgets;
    const isCounted = !forgets || this.#isKnown(item, key);
    if (forgets) this.#forgetExpired();
    if (this.isIgnored(lease)) attempts--;
    const known = this.recordOfLease(lease);
    const before = known === NONE ? 0 : records.stateOf(known);
    const flags = REMEMBERED | (isCounted ? COUNTED : 0) | (hasFailed ? FAILING : 0);
    const record = known === NONE ? records.take(key, flags, item, 0) : known;
    records.setState(record, before & ~(FAILING | COUNTED) | flags);
    if ((before & POSITION) === 0) records.setItem(record, item);
    this.failures.setAttempts(record, attempts);
    if ((before & REMEMBERED) === 0) this.#remembered.append(record);
    if ((before & FAILING) !== 0) {
      if (!hasFailed) this.#failLess(key);
    } else if (hasFailed) {
      this.failing++;
      this.beganFailing(record);
    }
  }

  /** Called when an attempt at a key failed, and the previous one did not. */
  protected beganFailing(_record: number): void {}

  /** Reports whether the limiter doesn't count a failure of the latest attempt. */
  isIgnored({ key, item }: RecordLease<T>): boolean | undefined {
    return this.#limiter.ignores?.(item, limiterKey(key));
  }

  /** Reports whether the last attempt at a key failed, and the key was not forgotten since. */
  isFailing(key: unknown, item: T): boolean {
    const record = this.records.of(key);
    return this.#isRemembered(record, item) && (this.records.stateOf(record) & FAILING) !== 0;
  }

  /** Forgets the failures of an item. */
  forgetLeased(lease: RecordLease<T>): void {
    this.#forget(this.#mayRemember ? this.recordOfLease(lease) : NONE, lease.key, lease.item);
  }

  /** Called when an item is given up. */
  keep(_lease: RecordLease<T>, _attempts: number, _ending: GivenUpEnding): void {}

  /** Calls `callback` with each key that was failing and no longer is. Returns an unsubscribe function. */
  watchForgotten(callback: (key: unknown) => void): () => void {
    const watchers = this.#watchers ??= new Set();
    watchers.add(callback);
    return () => void watchers.delete(callback);
  }

  /** Whether a record may have something that `forget` ends. */
  get #mayRemember(): boolean {
    return this.folds || this.#remembered.first !== NONE;
  }

  #forget(record: number, key: unknown, item: T): void {
    if (record !== NONE) {
      if (this.folds) this.endFolding(record);
      this.#forgetAttempts(record);
    }
    this.#limiter.forget(item, limiterKey(key));
  }

  #forgetAttempts(record: number): void {
    const { records } = this;
    const state = records.stateOf(record);
    if ((state & REMEMBERED) === 0) return;
    const key = records.keyOf(record);
    const rest = state & ~(REMEMBERED | FAILING | COUNTED);
    this.#remembered.remove(record);
    if (rest === 0) records.free(record);
    else {
      records.setState(record, rest);
      if ((rest & POSITION) === 0) records.setItem(record, undefined);
    }
    if ((state & FAILING) !== 0) this.#failLess(key);
  }

  /** Forgets the next remembered keys that have expired. */
  #forgetExpired(): void {
    const remembered = this.#remembered;
    for (let look = 0; look < LOOKS && remembered.first !== NONE; look++) {
      const record = remembered.first;
      remembered.remove(record);
      remembered.append(record); // before the limiter is asked, which may forget the key
      if (this.#hasExpired(record, this.itemOf(record))) this.#forgetAttempts(record);
    }
  }

  /** Whether the limiter forgets keys after a time. */
  get #forgets(): boolean {
    return (this.#limiter.forgetAfter ?? Infinity) < Infinity;
  }

  /** Reports whether the attempts at a key are remembered. Forgets them if they have expired. */
  #isRemembered(record: number, item: T): boolean {
    if (record === NONE || (this.records.stateOf(record) & REMEMBERED) === 0) return false;
    if (!this.#hasExpired(record, item)) return true;
    this.#forgetAttempts(record);
    return false;
  }

  #hasExpired(record: number, item: T): boolean {
    if ((this.records.stateOf(record) & COUNTED) === 0 || !this.#forgets) return false;
    return !this.#isKnown(item, this.records.keyOf(record));
  }

  /** Reports whether the limiter still has a count for the item. Returns `true` if the limiter throws. */
  #isKnown(item: T, key: unknown): boolean {
    try {
      return this.#limiter.numRequeues(item, limiterKey(key)) !== 0;
    } catch {
      return true;
    }
  }

  /** Subtracts a key from the failing keys, and tells the watchers. */
  #failLess(key: unknown): void {
    this.failing--;
    if (this.#watchers === undefined) return;
    for (const tell of this.#watchers) tell(key);
  }
}

/** Returns a promise that rejects, for a queue that keeps no given-up items. */
function keepsNone(action: string): Promise<never> {
  return Promise.reject(argumentError(action, "the queue keeps none; set the option 'keepGivenUp'", Error));
}
