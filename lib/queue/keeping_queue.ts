import { requireRules } from "../base/arguments.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { type Clock, isRealTime, systemClock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { ErrorOutput } from "../base/error_output.ts";
import { messageOf } from "../base/error_text.ts";
import { argumentError, inspect } from "../base/errors.ts";
import {
  DISCARD,
  limitsOf,
  LIST_GIVEN_UP,
  LIST_OPTIONS,
  REDRIVE,
  REDRIVE_OPTIONS,
  redriveRuns,
  SELECTION_OPTIONS,
} from "../base/given_up_arguments.ts";
import { copyOf, inOneLine } from "../base/safe_text.ts";
import type {
  GivenUpEntry,
  GivenUpOptions,
  GivenUpPage,
  GivenUpRetention,
  GivenUpSelection,
  RedriveOptions,
  RedriveProgress,
} from "../contracts/given_up.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { QueueHooks } from "../contracts/queue_hooks.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitedAddOptions, RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions, DrainOptions } from "../contracts/work_queue.ts";
import type { GivenUpItem } from "../contracts/work_source.ts";
import { MAX_BURST, nextTask } from "../structures/burst.ts";
import { Attempts } from "./attempts.ts";
import { type KeptEntry, KeptItems, matcherOf } from "./kept_items.ts";
import { withKey } from "./known_key.ts";
import { LimitedQueue } from "./limited_queue.ts";
import { Redrive } from "./redrive.ts";

/** Maximum number of items that one call checks. */
const MAX_CHECKED = 10_000;

/** Layer 3 that keeps the items that its pools give up. */
export class KeepingQueue<T> extends LimitedQueue<T> {
  readonly #retention: number | GivenUpRetention;
  readonly #attempts: TimedAttempts<T>;
  readonly #isReferenced: boolean;
  readonly #kept = new KeptItems<T>();
  readonly #errors: ErrorOutput;
  #dropped = 0;
  #redrive: Redrive<T> | undefined = undefined;

  constructor(
    limiter: RateLimiter<T>,
    options: RateLimitingQueueOptions<T>,
    retention: number | GivenUpRetention,
  ) {
    const attempts = new TimedAttempts(limiter, options.clock ?? systemClock);
    super(limiter, options, attempts);
    this.#retention = retention;
    this.#attempts = attempts;
    this.#isReferenced = options.ref ?? true;
    this.#errors = new ErrorOutput(() => this.time.now());
  }

  protected override hooks(metrics: MetricsProvider | undefined): QueueHooks<T> {
    const hooks: QueueHooks<T> = { givenUp: (given) => this.#keep(given), keepsGivenUp: true };
    return Object.assign(super.hooks(metrics), hooks);
  }

  override add(item: T, options?: AddOptions): void {
    this.#forgetWhenAdded(item, () => super.add(item, options));
  }

  override addAfter(item: T, delay: Duration, options?: AddOptions): void {
    this.#forgetWhenAdded(item, () => super.addAfter(item, delay, options));
  }

  override addRateLimited(item: T, options?: RateLimitedAddOptions): void {
    this.#forgetWhenAdded(item, () => super.addRateLimited(item, options));
  }

  override shutDown(): void {
    this.#redrive?.stop();
    super.shutDown();
  }

  override shutDownWithDrain(options?: DrainOptions): Promise<void> {
    const drained = super.shutDownWithDrain(options);
    if (this.shuttingDown) this.#redrive?.stop(); // otherwise, an option was invalid
    return drained;
  }

  // deno-lint-ignore require-await -- an async function turns errors into rejections
  override async givenUp(options: GivenUpOptions = {}): Promise<GivenUpPage<T>> {
    requireRules(LIST_GIVEN_UP, options, LIST_OPTIONS);
    const { search, limit = 100, cursor } = options;
    this.#dropOld();
    const matches = matcherOf(search);
    const items: GivenUpEntry<T>[] = [];
    const numbers = () => ({ total: this.#kept.size, dropped: this.#dropped });
    if (limit === 0) return { items, ...numbers() };
    const now = this.time.now();
    let [checked, last] = [0, 0];
    for (const entry of this.#kept.newestFirst(cursor === undefined ? undefined : Number.parseInt(cursor))) {
      if (items.length === limit || checked === MAX_CHECKED) return { items, cursor: String(last), ...numbers() };
      if (matches(entry)) items.push(shown(entry, now));
      last = entry.number;
      checked++;
    }
    return { items, ...numbers() };
  }

  // deno-lint-ignore require-await -- an async function turns errors into rejections
  override async redrive(options: RedriveOptions = {}): Promise<RedriveProgress> {
    requireRules(REDRIVE, options, REDRIVE_OPTIONS);
    const { rate = Infinity, ...selection } = options;
    if (this.shuttingDown) {
      throw argumentError(REDRIVE, "the queue is shutting down, so it ignores added items", Error);
    }
    if (this.#redrive?.progress.running) throw redriveRuns();
    this.#dropOld();
    this.#redrive = new Redrive({
      scan: this.#kept.scan(selection),
      rate,
      clock: this.time,
      ref: this.#isReferenced,
      isOver: () => this.shuttingDown,
      addAgain: (entry) => this.#addAgain(entry),
    });
    this.#redrive.run();
    return this.#redrive.progress;
  }

  override redriveProgress(): Promise<RedriveProgress | undefined> {
    return Promise.resolve(this.#redrive?.progress);
  }

  override stopRedrive(): Promise<RedriveProgress | undefined> {
    this.#redrive?.stop();
    return this.redriveProgress();
  }

  override async discard(options: GivenUpSelection = {}): Promise<number> {
    requireRules(DISCARD, options, SELECTION_OPTIONS);
    this.#dropOld();
    const scan = this.#kept.scan(options);
    let discarded = 0;
    let endsAt = this.time.now() + MAX_BURST;
    for (let entry = scan.next(); entry !== false; entry = scan.next()) {
      if (entry !== undefined) {
        this.#kept.remove(entry);
        discarded++;
      }
      if (isRealTime(this.time) && this.time.now() >= endsAt) {
        await new Promise<void>(nextTask);
        endsAt = this.time.now() + MAX_BURST;
      }
    }
    return discarded;
  }

  #keep(given: GivenUpItem<T>): void {
    const { item, key, attempts, error, reason } = given;
    if (this.willRunAgain(key)) return;
    const now = this.time.now();
    this.#kept.add({
      item,
      key,
      error: copyOf(inOneLine(messageOf(error))),
      attempts,
      reason,
      group: this.#groupOf(item, key),
      firstFailedAt: this.#attempts.firstFailedAt(key) ?? now,
      givenUpAt: now,
    });
    this.#dropOld();
  }

  /** Returns the group of an item; `undefined` if there are no groups or the group is unknown. */
  #groupOf(item: T, key: unknown): unknown {
    try {
      return this.groups?.groupOf?.({ item, key });
    } catch {
      return undefined;
    }
  }

  /** Adds an item. If the item was given up, it is no longer kept then. */
  #forgetWhenAdded(item: T, add: () => void): void {
    if (this.#kept.size === 0 || this.shuttingDown) return add();
    const key = this.key(item);
    const entry = this.#kept.get(key);
    if (this.known === undefined) add();
    else withKey(this.known, item, key, add);
    if (entry !== undefined) this.#kept.remove(entry);
  }

  /** Adds a given-up item again. Reports whether it was added. If that fails, the item is still kept. */
  #addAgain(entry: KeptEntry<T>): boolean {
    try {
      this.forget(entry.item);
      this.add(entry.item);
    } catch (error) {
      this.#errors.write(() => `Given-up item ${inspect(entry.key)} can't be added again: ${messageOf(error)}`);
    }
    return entry.isGone;
  }

  #dropOld(): void {
    const { max, maxAge } = limitsOf(this.#retention);
    this.#dropped += this.#kept.drop(max, this.time.now() - maxAge);
  }
}

function shown<T>({ item, key, error, attempts, reason, group, ...entry }: KeptEntry<T>, now: number): GivenUpEntry<T> {
  return {
    item,
    key,
    error,
    attempts,
    reason,
    ...group !== undefined && { group },
    firstFailedAgoMs: now - entry.firstFailedAt,
    givenUpAgoMs: now - entry.givenUpAt,
  };
}

/** Number of attempts at each key, with the time of its first failure. */
class TimedAttempts<T> extends Attempts<T> {
  readonly #clock: Clock;
  readonly #firstFailures = new ChurnMap<unknown, number>();

  constructor(limiter: RateLimiter<T>, clock: Clock) {
    super(limiter);
    this.#clock = clock;
    this.watchForgotten((key) => this.#firstFailures.delete(key));
  }

  override set(key: unknown, attempts: number, item: T, hasFailed = true): void {
    super.set(key, attempts, item, hasFailed);
    if (hasFailed && this.#firstFailures.get(key) === undefined) this.#firstFailures.set(key, this.#clock.now());
  }

  firstFailedAt(key: unknown): number | undefined {
    return this.#firstFailures.get(key);
  }
}
