import { callSafely } from "../base/thrown.ts";
import type { Clock } from "../base/clock.ts";
import { inSlices } from "../structures/in_slices.ts";
import { RecordHeap } from "../structures/record_heap.ts";
import { FailureFields, NONE, PAGE, type Page, PLACE, type Records } from "../structures/records.ts";
import type { LiveDuration } from "./live_duration.ts";
import { FAILING, POSITION, REMEMBERED } from "./positions.ts";

/** Maximum number of expired keys that are forgotten when a failure is counted, and in each step of a slice. */
const FEW = 2;

/** Limit on the memory of failures, and functions of the queue. */
export interface FailingQueue {
  /** Time from the end of a key's last delay until its failures are forgotten; `undefined` for never. */
  readonly after: LiveDuration | undefined;
  readonly clock: Clock;
  /** Called when the failures of a key have expired. */
  expired(key: unknown, item: unknown): void;
}

/**
 * Keys whose failures a queue remembers, until they are forgotten or have expired. Everything about a key is in its
 * record.
 */
export class FailedKeys {
  /** Number of keys whose failures are remembered. */
  size = 0;
  /** Whether the times of first failures are kept. */
  keepsTimes = false;
  /** Number of keys whose last attempt failed, including keys whose failures have expired. */
  #failing = 0;
  readonly #records: Records;
  readonly #queue: FailingQueue;
  /**
   * Records by the end of the last delay, or by an earlier time. They expire in this order. `undefined` if failures
   * don't expire.
   */
  readonly #expiring: RecordHeap | undefined;
  /** Whether expired keys are being forgotten, in slices. */
  #isForgetting = false;
  /** Callbacks of `watch`; `undefined` until it is first called. */
  #watchers: Set<(key: unknown) => void> | undefined = undefined;

  constructor(records: Records, queue: FailingQueue) {
    this.#records = records;
    this.#queue = queue;
    if (queue.after !== undefined) this.#expiring = new RecordHeap();
  }

  /** Number of keys whose last attempt failed. */
  get failing(): number {
    const { clock } = this.#queue;
    const now = clock.now();
    if (!this.#hasExpired(now)) return this.#failing;
    if (!this.#isForgetting) {
      this.#isForgetting = true;
      inSlices(() => this.#forgetMore(), clock);
    }
    return this.#failing - this.#countExpired(now);
  }

  /** Calls `callback` with each key that was failing and no longer is. Returns an unsubscribe function. */
  watch(callback: (key: unknown) => void): () => void {
    const watchers = this.#watchers ??= new Set();
    watchers.add(callback);
    return () => void watchers.delete(callback);
  }

  /**
   * Returns the number of failures of a key. Forgets them if they have expired. Afterwards, the record may be that of
   * another key, because a limiter or a watcher may change the queue when it is called.
   *
   * @param now The current time, if it is known.
   */
  countOf(record: number, now?: number): number {
    return this.#fieldsOf(record, now)?.numbers[record & PLACE] ?? 0;
  }

  /** Returns the end of the last delay after a failure of a key, which must have failures. */
  endOf(record: number): number {
    return this.#records.pageOf(record).failures!.ends[record & PLACE]!;
  }

  /** Reports whether the last attempt at a key failed. Forgets the failures of the key if they have expired. */
  isFailing(record: number): boolean {
    return this.#fieldsOf(record) !== undefined && (this.#records.stateOf(record) & FAILING) !== 0;
  }

  /** Returns the time of the first failure of a key; `undefined` if the key has none, or the time was not set. */
  firstFailureOf(record: number): number | undefined {
    return this.#fieldsOf(record)?.times?.[record & PLACE];
  }

  /**
   * Notes a failure of a key, or the end of an attempt at it. Returns the record of the key.
   *
   * @param end End of the delay that follows.
   * @param isCounted Whether the failure is counted.
   * @param hasFailed Whether the latest attempt at the key failed; `undefined` if there was no attempt.
   */
  note(
    before: number,
    key: unknown,
    item: unknown,
    end: number,
    isCounted: boolean,
    hasFailed: boolean | undefined,
  ): number {
    const records = this.#records;
    const state = records.stateOf(before);
    if ((state & REMEMBERED) === 0 && !isCounted && hasFailed !== true) return before;
    const record = before === NONE ? records.take(key, REMEMBERED, item, 0) : before;
    const place = record & PLACE;
    const page = records.pageOf(record);
    const { numbers, ends } = page.failures ??= new FailureFields();
    if ((state & REMEMBERED) === 0) {
      if ((state & POSITION) === 0) records.setItem(record, item);
      this.#begin(page, place);
    }
    if (isCounted) {
      numbers[place]!++;
      ends[place] = end;
      if (this.#expiring?.has(record)) this.#expiring.decrease(record, end); // a later end is set when this is reached
      else this.#expiring?.add(record, end);
    } else if (end > ends[place]!) ends[place] = end;
    const wasFailing = (state & FAILING) !== 0;
    if (hasFailed === undefined || hasFailed === wasFailing) return record;
    page.fields[2 * place]! ^= FAILING;
    if (hasFailed) {
      this.#failing++;
      return record;
    }
    this.#failLess(key);
    return records.has(record, key) ? record : records.of(key); // a watcher may have changed the queue
  }

  /** Forgets the failures of a key. */
  forget(record: number): void {
    const records = this.#records;
    const state = records.stateOf(record);
    if ((state & REMEMBERED) === 0) return;
    const key = this.#watchers === undefined ? undefined : records.keyOf(record);
    if (this.#expiring?.has(record)) this.#expiring.delete(record);
    this.size--;
    const rest = state & ~(REMEMBERED | FAILING);
    if (rest === 0) records.free(record);
    else {
      records.setState(record, rest);
      if ((rest & POSITION) === 0) records.setItem(record, undefined);
    }
    if ((state & FAILING) !== 0) this.#failLess(key);
  }

  /** Forgets the failures of a few keys that have expired. */
  forgetExpired(now: number): void {
    const expiring = this.#expiring;
    if (expiring === undefined) return;
    for (let count = 0; count < FEW && this.#hasExpired(now); count++) {
      const record = expiring.next;
      if (!this.#forgetIfExpired(record, now)) {
        expiring.increase(record, this.endOf(record));
      }
    }
  }

  /** Forgets some keys that have expired. Reports whether there may be more. */
  #forgetMore(): boolean {
    const now = this.#queue.clock.now();
    this.forgetExpired(now);
    return this.#isForgetting = this.#hasExpired(now);
  }

  /** Counts failing keys that have expired and are not forgotten yet. */
  #countExpired(now: number): number {
    const { after } = this.#queue;
    let count = 0;
    this.#expiring!.visit(now - after!.ms + 1, (record) => { // and a little more, because sums are rounded
      const isFailing = (this.#records.stateOf(record) & FAILING) !== 0;
      if (isFailing && this.endOf(record) + after!.ms <= now) count++;
    });
    return count;
  }

  /** Whether there may be expired keys that are not forgotten yet. */
  #hasExpired(now: number): boolean {
    return this.#expiring !== undefined && this.#expiring.smallest + this.#queue.after!.ms <= now;
  }

  /** Begins to remember the failures of a key: none so far. */
  #begin(page: Page, place: number): void {
    const fields = page.failures!;
    page.fields[2 * place]! |= REMEMBERED;
    fields.numbers[place] = 0;
    fields.ends[place] = -Infinity;
    if (this.keepsTimes) (fields.times ??= new Float64Array(PAGE))[place] = this.#queue.clock.now();
    this.size++;
  }

  /** Returns the fields of a key whose failures are remembered and have not expired; `undefined` for any other key. */
  #fieldsOf(record: number, now?: number): FailureFields | undefined {
    if (record === NONE) return undefined;
    const { fields, failures } = this.#records.pageOf(record);
    if ((fields[2 * (record & PLACE)]! & REMEMBERED) === 0) return undefined;
    return this.#expiring !== undefined && this.#forgetIfExpired(record, now) ? undefined : failures;
  }

  /** Forgets the failures of a key if they have expired. Reports whether they had. */
  #forgetIfExpired(record: number, now?: number): boolean {
    if (!this.#expiring!.has(record)) return false;
    const { after, clock, expired } = this.#queue;
    if (this.endOf(record) + after!.ms > (now ?? clock.now())) return false;
    const [key, item] = [this.#records.keyOf(record), this.#records.itemOf(record)];
    this.forget(record);
    callSafely(expired, undefined, key, item);
    return true;
  }

  /** Subtracts a key from the failing keys, and tells the watchers. */
  #failLess(key: unknown): void {
    this.#failing--;
    if (this.#watchers === undefined) return;
    for (const tell of this.#watchers) tell(key);
  }
}
