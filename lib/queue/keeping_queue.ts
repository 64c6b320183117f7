import { requireRules } from "../base/arguments.ts";
import { isRealTime } from "../base/clock.ts";
import { ErrorOutput } from "../base/error_output.ts";
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
import { inOneLine } from "../base/safe_text.ts";
import { messageOf } from "../base/thrown.ts";
import type {
  GivenUpEntry,
  GivenUpOptions,
  GivenUpPage,
  GivenUpRetention,
  GivenUpSelection,
  RedriveOptions,
  RedriveProgress,
} from "../contracts/given_up.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import type { DrainOptions } from "../contracts/work_queue.ts";
import type { GivenUpEnding } from "../contracts/work_source.ts";
import { matcherOf } from "../policy/given_up.ts";
import { MAX_BURST, nextTask } from "../structures/burst.ts";
import { type KeptEntry, KeptItems } from "./kept_items.ts";
import type { RecordLease } from "./record_queue.ts";
import { Redrive } from "./redrive.ts";
import { LimitedQueue } from "./limited_queue.ts";

/** Maximum number of items that one call checks. */
const MAX_CHECKED = 10_000;

/** Layer 3 that keeps the items that its pools give up. */
export class KeepingQueue<T> extends LimitedQueue<T> {
  readonly #retention: GivenUpRetention;
  readonly #isReferenced: boolean;
  readonly #kept = new KeptItems<T>();
  readonly #errors: ErrorOutput;
  #dropped = 0;
  #redrive: Redrive<T> | undefined = undefined;

  constructor(limiter: RateLimiter<T>, options: RateLimitingQueueOptions<T>, retention: GivenUpRetention) {
    super(limiter, options);
    this.#retention = retention;
    this.#isReferenced = options.ref ?? true;
    this.#errors = new ErrorOutput(() => this.time.now());
    this.failures.keepsTimes = true;
  }

  override get keepsGivenUp(): boolean {
    return true;
  }

  protected override addNow(key: unknown, item: T, priority: number): void {
    const entry = this.#entryOf(key);
    super.addNow(key, item, priority);
    if (entry !== undefined) this.#kept.remove(entry);
  }

  protected override delayItem(
    ...added: [
      record: number,
      key: unknown,
      item: T,
      ms: number,
      priority: number,
      marks?: number,
      hasFailed?: boolean,
      now?: number,
    ]
  ): void {
    const entry = this.#entryOf(added[1]);
    super.delayItem(...added);
    if (entry !== undefined) this.#kept.remove(entry);
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

  override keep(lease: RecordLease<T>, attempts: number, { error, reason }: GivenUpEnding): void {
    const { item, key } = lease;
    const record = lease.recordIn(this.records);
    if (this.willRunAgain(record)) return;
    const now = this.time.now();
    this.#kept.add({
      item,
      key,
      error: inOneLine(messageOf(error)),
      attempts,
      reason,
      group: this.#groupOf(item, key),
      firstFailedAt: this.failures.firstFailureOf(record) ?? now,
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

  /** Returns the entry of a key that is about to be added. After the add, the entry is no longer kept. */
  #entryOf(key: unknown): KeptEntry<T> | undefined {
    return this.#kept.size === 0 || this.shuttingDown ? undefined : this.#kept.get(key);
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
