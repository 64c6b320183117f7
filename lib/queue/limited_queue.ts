import { NOT_COUNTED, setBrand, SOURCE } from "../base/brands.ts";
import { withCode } from "../base/error_codes.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { argumentError, invalidArgument, limiterError } from "../base/errors.ts";
import { DISCARD, LIST_GIVEN_UP, REDRIVE } from "../base/given_up_arguments.ts";
import { UNDEFINED_KEY } from "../base/keys.ts";
import type {
  GivenUpOptions,
  GivenUpPage,
  GivenUpSelection,
  RedriveOptions,
  RedriveProgress,
} from "../contracts/given_up.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { FailedAttempt, RateLimiter } from "../contracts/rate_limiter.ts";
import type {
  AddAndWaitOptions,
  CancelledFrom,
  RateLimitedAddOptions,
  RateLimitingQueue,
  RateLimitingQueueOptions,
} from "../contracts/rate_limiting_queue.ts";
import type { Shutdown } from "../contracts/work_queue.ts";
import type {
  Ending,
  GivenUpEnding,
  HeldNews,
  RetryLimits,
  WorkAttempt,
  WorkRequest,
  WorkSource,
} from "../contracts/work_source.ts";
import type { Records } from "../structures/records.ts";
import { AwaitedKeys, type KeyEnds } from "./awaited_keys.ts";
import { DelayedQueue } from "./delayed_queue.ts";
import { FailedKeys } from "./failed_keys.ts";
import { liveDuration } from "./live_duration.ts";
import { priorityOf, signalOf } from "./options.ts";
import { RemovableFifo, RetriesFirst } from "./fifo_order.ts";
import { heldLineOf } from "./held_line.ts";
import type { Order } from "./order.ts";
import { AGAIN, BLOCKED, CANCELLED, POSITION, PROCESSING, READY } from "./positions.ts";
import type { RecordLease } from "./record_queue.ts";

const ADD = "add item";
const RATE_LIMITED_OPTIONS = ["priority", "minDelay", "startedAt"];

/** Delay, in milliseconds, of an item that could not be added again with the limiter's delay. */
const RETRY_DELAY = 1000;

/** Attempt at an item of an in-memory queue. */
interface SourceAttempt<T> extends WorkAttempt<T> {
  readonly lease: RecordLease<T>;
}

type Report<T> = Parameters<WorkSource<T>["finish"]>[2];

/**
 * Layer 3: counts the failures of each key, and delays items as long as the limiter says. Any number of pools may take
 * their work from the queue.
 */
export class LimitedQueue<T> extends DelayedQueue<T> implements RateLimitingQueue<T>, WorkSource<T> {
  readonly #limiter: RateLimiter<T>;
  /** Priority of retries; `undefined` if retries keep the priorities of their items. */
  readonly #retryPriority: number | undefined;
  /** Keys that have failed. */
  readonly failures: FailedKeys;
  /** Callbacks of the pools. */
  readonly #holders = new Set<(news: HeldNews) => void>();
  /** Whether any hand-out was ever cancelled: if so, each attempt must check its hand-out. */
  #mayBeCancelled = false;
  /** Keys whose results are awaited, or that are watched; `undefined` until one is. */
  ends: KeyEnds | undefined = undefined;

  constructor(limiter: RateLimiter<T>, options: RateLimitingQueueOptions<T>) {
    super(options);
    setBrand(this, SOURCE, () => this);
    this.#limiter = limiter;
    this.#retryPriority = options.retryPriority;
    if (options.retriesFirst) this.marksRetries = true;
    const after = options.forgetAfter === undefined ? undefined : liveDuration(options.forgetAfter);
    this.failures = new FailedKeys(this.records, {
      after,
      clock: this.time,
      expired: (key, item) => this.#tellForgotten(key, item as T),
    });
  }

  protected override makeFifo(records: Records, { retriesFirst }: RateLimitingQueueOptions<T>): Order {
    return retriesFirst ? new RetriesFirst(records) : new RemovableFifo(records);
  }

  protected override get type(): string {
    return "RateLimiting";
  }

  /** Whether the queue keeps given-up items. */
  get keepsGivenUp(): boolean {
    return false;
  }

  addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    const given = priorityOf(options, RATE_LIMITED_OPTIONS);
    const now = this.time.now();
    const { priority = this.#retryPriority ?? given, startedAt = now, minDelay: duration = 0 } = options ?? {};
    const minDelay = requireDuration(ADD, "minDelay", duration);
    if (!Number.isFinite(startedAt)) throw invalidArgument(ADD, "startedAt", "must be a finite number", startedAt);
    const key = this.key(item);
    this.failures.forgetExpired(now);
    const { changes } = this.records;
    const before = this.records.of(key);
    const failures = this.failures.countOf(before, now);
    const dueAt = failures === 0 ? undefined : this.failures.endOf(before);
    const delay = this.#ask(key, item, failures, { startedAt, dueAt, minDelay });
    const ms = delayOf(delay, dueAt, minDelay, now);
    // The failures may have expired, or the limiter may have changed the queue.
    let record = this.records.changes === changes ? before : this.records.of(key);
    if (this.#limiter.next !== undefined && this.#limiter.countsFailures !== false) {
      record = this.failures.note(record, key, item, now + ms, delay !== NOT_COUNTED, undefined);
    }
    if (this.ends !== undefined && this.positionIn(record) >= PROCESSING) this.ends.note(key, { kind: "kept" });
    this.retryAfter(record, key, item, ms, priority, false, now);
  }

  /**
   * Returns the delay after one more failure of a key. Must be called before the failure is counted. Afterwards, the
   * key may have another record, because the limiter may change the queue.
   */
  #ask(key: unknown, item: T, failures: number, attempt: FailedAttempt): number | typeof NOT_COUNTED {
    const limiter = this.#limiter;
    let delay;
    if (limiter.next === undefined) delay = limiter.when(item, limiterKey(key), attempt);
    else {
      delay = limiter.next(failures + 1, item, limiterKey(key), attempt);
      if (delay === NOT_COUNTED && failures > 0) return delay;
    }
    if (Number.isFinite(delay)) return delay;
    const method = limiter.next === undefined ? "when" : "next";
    throw limiterError(ADD, method, "of the limiter must return a finite number of milliseconds", delay);
  }

  forget(item: T): void {
    this.forgetKey(this.key(item), item);
  }

  addAndWait(item: T, options?: AddAndWaitOptions): Promise<unknown> {
    try {
      const priority = priorityOf(options, ["priority", "signal"]);
      const signal = signalOf(ADD, options && { signal: options.signal });
      if (signal?.aborted) throw signal.reason;
      if (this.ignoresAdds) throw shutDownError();
      const key = this.key(item);
      const isProcessing = this.positionIn(this.records.of(key)) >= PROCESSING;
      this.addNow(key, item, priority);
      return this.watchEnds().wait(key, isProcessing, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Returns what is told of the ends of hand-outs, from this call on. */
  watchEnds(): KeyEnds {
    const lossOf = () => this.ignoresAdds ? shutDownError() : cancelledError();
    this.onEnd ??= (key) => this.ends!.ended(key, this.#isPending(key), lossOf);
    this.attend();
    return this.ends ??= new AwaitedKeys();
  }

  /** Reports whether a key will be handed out, or is processing. */
  #isPending(key: unknown): boolean {
    const record = this.records.of(key);
    return this.positionIn(record) !== 0 || this.dueAtOf(record) !== undefined;
  }

  protected override lostDelayed(): void {
    this.ends?.rejectLost((key) => this.#isPending(key), shutDownError);
  }

  override cancelDelayed(item: T): boolean {
    const key = this.key(item);
    if (!this.endDelay(this.records.of(key))) return false;
    this.tellFewer();
    if (!this.#isPending(key)) this.ends?.reject(key, cancelledError);
    return true;
  }

  cancel(item: T, reason?: unknown): CancelledFrom | undefined {
    const key = this.key(item);
    const record = this.records.of(key);
    let position = this.#takeOut(record);
    if (this.endDelay(record)) position ??= "delayed";
    if (position === undefined) return undefined;
    this.tellFewer();
    if (position === "running") {
      this.#mayBeCancelled = true;
      this.#tellHolders({ key, kind: "cancelled", reason: reason ?? cancelledError() });
    }
    this.ends?.reject(key, () => cancelledError(reason)); // first, because the limiter may throw
    this.forgetKey(key, item);
    return position;
  }

  /**
   * Removes a key that is ready or blocked. Marks the hand-out of a processing key as cancelled: the key does not
   * become ready when it is done, unless it is added again after this call. A delay of the key is not affected.
   *
   * @returns The position of the key; `undefined` if it has none.
   * @throws Any error thrown by a discipline of the user. Then, nothing has changed.
   */
  #takeOut(record: number): CancelledFrom | undefined {
    const { records } = this;
    const state = records.stateOf(record);
    const position = state & POSITION;
    if (position >= PROCESSING) {
      if (position === AGAIN) this.unmark(record);
      records.setState(record, records.stateOf(record) | CANCELLED);
      return "running";
    }
    if (position !== READY && position !== BLOCKED) return undefined;
    const isBlocked = this.line.length === 0 || this.ordering?.isBlocked(record, state) === true;
    this.line.remove!(record, state);
    this.observer?.removed(record);
    this.leave(record, records.stateOf(record)); // the discipline or the observer may have delayed the key
    return isBlocked ? "blocked" : "ready";
  }

  numRequeues(item: T): number {
    const key = this.key(item);
    const limiter = this.#limiter;
    if (limiter.next === undefined) return limiter.numRequeues(item, limiterKey(key));
    return limiter.countsFailures === false ? 0 : this.failures.countOf(this.records.of(key));
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

  /** Begins an attempt. Returns its number, from 1; `undefined` if its item was cancelled after the hand-out. */
  attemptOf(lease: RecordLease<T>): number | undefined {
    if (this.#mayBeCancelled && this.#endCancelled(lease)) return undefined;
    return this.failures.size === 0 ? 1 : this.#numberOf(lease); // in most programs, nothing has failed
  }

  /** Reports whether the item of a hand-out was cancelled. If so, ends the hand-out. */
  #endCancelled(lease: RecordLease<T>): boolean {
    const isCancelled = (this.records.stateOf(lease.recordIn(this.records)) & CANCELLED) !== 0;
    if (isCancelled) lease[Symbol.dispose]();
    return isCancelled;
  }

  /** Returns the number of an attempt whose key may have failed. */
  #numberOf(lease: RecordLease<T>): number {
    const failures = this.failures.countOf(lease.recordIn(this.records));
    if (failures > 0) lease.startedAt = this.time.now();
    return failures + 1;
  }

  /** Reports whether the last attempt at a key failed, and the key was not forgotten since. */
  isFailing(key: unknown): boolean {
    return this.failures.isFailing(this.records.of(key));
  }

  /** Called when an item is given up. */
  keep(_lease: RecordLease<T>, _attempts: number, _ending: GivenUpEnding): void {}

  /** Forgets the failures of a key. A lease on the key makes finding its record faster. */
  protected forgetKey(key: unknown, item: T, lease?: RecordLease<T>): void {
    if (this.folds || this.failures.size > 0) { // otherwise, no record has anything to forget
      const record = lease === undefined ? this.recordOf(key) : lease.recordIn(this.records);
      if (this.folds) this.endFolding(record);
      this.failures.forget(record);
    }
    this.#tellForgotten(key, item);
  }

  /** Tells the limiter that the failures of a key are forgotten. */
  #tellForgotten(key: unknown, item: T): void {
    const limiter = this.#limiter;
    if (limiter.next === undefined) limiter.forget(item, limiterKey(key));
    else limiter.forgotten?.(item, limiterKey(key));
  }

  /**
   * Absent once the queue is shut down and empty, because the provider may already have been notified that the queue is
   * gone.
   */
  get metrics(): MetricsProvider | undefined {
    return this.isShutDown && this.size === 0 ? undefined : this.provider;
  }

  tryTake(): RecordLease<T> | undefined {
    return this.hasFree() ? this.handOut() : undefined;
  }

  take({ signal }: WorkRequest): Promise<RecordLease<T> | Shutdown> {
    return this.getNext(signal);
  }

  finish(attempt: SourceAttempt<T>, ending: Ending, report: Report<T>): void {
    const { lease } = attempt;
    if (this.ends !== undefined && lease.position !== 0) this.ends.note(lease.key, ending);
    if (ending.kind !== "succeeded" && !this.#finishOtherwise(attempt, ending, report)) return;
    try {
      this.forgetKey(lease.key, lease.item, lease);
    } catch (error) {
      report(error, attempt);
    }
  }

  /**
   * Carries out an ending that is not a success. Returns whether the failures of the key must be forgotten. Not part of
   * `finish`, so that `finish` stays small enough for engines to inline it.
   */
  #finishOtherwise(
    attempt: SourceAttempt<T>,
    ending: Exclude<Ending, { kind: "succeeded" }>,
    report: Report<T>,
  ): boolean {
    const { lease } = attempt;
    switch (ending.kind) { // no `default` case: a kind without a case is a type error
      case "cancelled":
        return false; // `cancel` has forgotten the failures
      case "failed":
        this.#retry(attempt, ending.minDelay, undefined, true, report);
        return false;
      case "requeue":
        this.#retry(attempt, 0, ending.priority, false, report);
        return false;
      case "handedBack":
        this.handBack(lease);
        return false;
      case "givenUp":
        try {
          this.keep(lease, attempt.number, ending);
        } catch (error) {
          report(error, attempt);
        }
        return true;
      case "requeueAfter": {
        if (this.ignoresAdds) return true;
        const { delay, priority = lease.priority } = ending;
        this.delayItem(lease.recordIn(this.records), lease.key, lease.item, delay, priority);
        return true;
      }
    }
  }

  /**
   * Counts an attempt that failed or asked for another one, and adds its item again after the limiter's delay or after
   * `minDelay` milliseconds, whichever is longer, with the given priority, if any. Throws only if the limiter throws.
   * Any other error is reported, and the item loses at most its delay.
   */
  #retry(
    attempt: SourceAttempt<T>,
    minDelay: number,
    given: number | undefined,
    hasFailed: boolean,
    report: Report<T>,
  ): void {
    const { lease } = attempt;
    const { key, item } = lease;
    const priority = given ?? this.#retryPriority ?? lease.priority;
    const now = this.time.now();
    this.failures.forgetExpired(now);
    const before = lease.recordIn(this.records);
    const failures = this.failures.countOf(before, now);
    const dueAt = failures === 0 ? undefined : this.failures.endOf(before);
    const startedAt = Math.min(startOf(lease, dueAt) ?? now, now);
    const delay = lease.isIgnored ? NOT_COUNTED : this.#ask(key, item, failures, { startedAt, dueAt, minDelay });
    try {
      const ms = delayOf(delay, dueAt, minDelay, now);
      const isCounted = delay !== NOT_COUNTED;
      const record = this.failures.note(lease.recordIn(this.records), key, item, now + ms, isCounted, hasFailed);
      this.retryAfter(record, key, item, ms, priority, hasFailed, now);
    } catch (error) {
      report(error, attempt);
      this.#retryWithoutLimiter(lease, Math.max(minDelay, RETRY_DELAY), priority, hasFailed);
    }
  }

  /**
   * Adds an item of a pool again without asking the limiter. If that fails as well, adds the item without a delay,
   * because retrying it too early is better than losing it.
   */
  #retryWithoutLimiter(lease: RecordLease<T>, delay: number, priority: number, hasFailed: boolean): void {
    const record = lease.recordIn(this.records);
    try {
      if (this.ignoresAdds && !this.takesRetry(record)) return;
      this.delayItem(record, lease.key, lease.item, delay, priority, 0, hasFailed);
    } catch {
      this.handBack(lease);
    }
  }

  timedOut({ lease }: SourceAttempt<T>): void {
    this.failures.countOf(lease.recordIn(this.records)); // forgets failures that have expired
    this.failures.note(lease.recordIn(this.records), lease.key, lease.item, -Infinity, false, true);
  }

  /**
   * Must be the last call before `finish`, because the limiter may be asked whether it counts the failure. The answer
   * is kept in `isIgnored` of the lease.
   */
  mayRetry({ lease }: SourceAttempt<T>, { maxRetries }: RetryLimits): boolean {
    const record = lease.recordIn(this.records);
    const failures = this.failures.countOf(record);
    if (failures < maxRetries) return true;
    if (this.#limiter.countsFailures !== "some" || this.#limiter.next === undefined || failures === 0) return false;
    const dueAt = this.failures.endOf(record);
    const startedAt = startOf(lease, dueAt)!;
    if (!(startedAt < dueAt)) return false;
    const attempt = { startedAt, dueAt, minDelay: 0 };
    return lease.isIgnored = this.#ask(lease.key, lease.item, failures, attempt) === NOT_COUNTED;
  }

  pause({ lease: { key, item } }: SourceAttempt<T>, scope: "group" | "queue", ms: number): boolean {
    if (scope === "queue") {
      heldLineOf(this).pauseFor(ms);
      return true;
    }
    const { groups } = this;
    if (groups?.groupOf === undefined) return false;
    this.pauseGroup(groups.groupOf({ item, key }), ms);
    return true;
  }

  /**
   * Returns `true` until the queue shuts down. Once the queue is shutting down, an item whose handler requested
   * `requeue` simply succeeds.
   */
  takesBack({ lease }: SourceAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean {
    if (!this.ignoresAdds) return true;
    return reason !== "requeue" && this.takesRetry(lease.recordIn(this.records));
  }

  get failing(): number {
    return this.failures.failing;
  }

  watchHeld(callback: (news: HeldNews) => void, tellsAdds: boolean): () => void {
    if (tellsAdds) this.onAgain = (key) => this.#tellHolders({ key, kind: "addedAgain" });
    this.#holders.add(callback);
    return () => void this.#holders.delete(callback);
  }

  #tellHolders(news: HeldNews): void {
    for (const tell of this.#holders) tell(news);
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    return this.failures.watch(callback);
  }

  dueInMs(item: T): number | undefined {
    const dueAt = this.dueAt(item);
    return dueAt === undefined ? undefined : Math.max(dueAt - this.time.now(), 0);
  }

  // The following members are for queues outside this process.

  get isRemote(): false {
    return false;
  }

  get isPaused(): false {
    return false;
  }

  giveBackUnused(): void {}

  takesPermits(): false {
    return false;
  }

  sharedThrottle(): undefined {}

  watchGivenUp(): () => void {
    return () => {};
  }
}

/**
 * Returns the time at which an attempt began; `undefined` if its key had no failures then and has none now. If its
 * first failure was counted during the attempt, returns a time before the end of the delay after that failure.
 */
function startOf({ startedAt }: RecordLease<unknown>, dueAt: number | undefined): number | undefined {
  return startedAt === undefined && dueAt !== undefined ? dueAt - 1 : startedAt;
}

/** Returns the delay that a queue uses: for a failure that is not counted, the rest of the previous delay. */
function delayOf(
  delay: number | typeof NOT_COUNTED,
  dueAt: number | undefined,
  minDelay: number,
  now: number,
): number {
  return Math.max(delay === NOT_COUNTED ? (dueAt ?? now) - now : delay, minDelay);
}

/** Returns a promise that rejects, for a queue that keeps no given-up items. */
function keepsNone(action: string): Promise<never> {
  return Promise.reject(argumentError(action, "the queue keeps none; set the option 'keepGivenUp'", Error));
}

function cancelledError(reason?: unknown): Error {
  return withCode("WQ_CANCELLED", new Error("The item was cancelled", reason === undefined ? {} : { cause: reason }));
}

function shutDownError(): Error {
  return withCode("WQ_SHUT_DOWN", new Error("The queue was shut down before the item was done"));
}

/** Returns a key as limiters get it. */
function limiterKey(key: unknown): unknown {
  return key === undefined ? UNDEFINED_KEY : key;
}
