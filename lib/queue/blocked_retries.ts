import { type Clock, isRealTime } from "../base/clock.ts";
import { firstErrorReporter } from "../base/first_error.ts";
import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";
import { newCredit, RetryCredit } from "../policy/retry_credit.ts";
import { burst, RecentTime } from "../structures/burst.ts";
import { RecordHeap } from "../structures/record_heap.ts";
import type { Records } from "../structures/records.ts";
import { BLOCKED, EXEMPT, NEEDS_BUDGET, POSITION, READY, REPEATED } from "./positions.ts";

/** Number of hand-outs in a burst for which a budget reads the system clock only once. */
const HAND_OUTS_PER_LOOK = 16;

/** Options of a retry budget that may change. */
interface LiveOptions extends RetryBudgetOptions {
  /** Calls `callback` when the options change. Returns an unsubscribe function. */
  watch(callback: () => void): () => void;
}

/** Ordering of a queue whose retries need budget. */
export interface BudgetedOrdering {
  readonly records: Records;
  /** Passes a ready key to the order of the queue. */
  enter(record: number): void;
  /** Called when the number of blocked retries, or the time from which one may be let through, may have changed. */
  followQuietly(): void;
}

/** Queue whose retries need budget. */
export interface BudgetedQueue {
  readonly time: Clock;
  /** Whether adds are folded into retries. If not, an add of a blocked retry lets it through. */
  readonly folds: boolean;
  /** Called when the options have changed: pending calls and their timer must be brought up to date. */
  look(): void;
}

/**
 * Retries that are due and wait for budget, in the order in which they became due. The discipline of the queue gets a
 * retry only when the budget allows it.
 */
export class BlockedRetries {
  readonly #queue: BudgetedQueue;
  readonly #ordering: BudgetedOrdering;
  readonly #options: LiveOptions;
  readonly #budget: RetryCredit;
  readonly #records = new RecordHeap();
  /** Function that stops watching the options. Defined while retries are blocked. */
  #unwatch: (() => void) | undefined;
  readonly #report = firstErrorReporter("make retry ready");
  readonly #recentTime: RecentTime;
  /** Time that was read before the next item is handed out. */
  #takenAt = 0;
  /** Burst in which further hand-outs use the same time, and the number of hand-outs that may still use it. */
  #burst = 0;
  #shares = 0;

  constructor(options: LiveOptions, queue: BudgetedQueue, ordering: BudgetedOrdering) {
    this.#options = options;
    this.#budget = new RetryCredit(options, newCredit(), 1000);
    this.#queue = queue;
    this.#ordering = ordering;
    this.#recentTime = new RecentTime(queue.time);
  }

  get length(): number {
    return this.#records.length;
  }

  /** Time from which a retry may be let through without a first attempt; `Infinity` if there is none. */
  get opensAt(): number {
    return this.#records.length > 0 ? this.#budget.opensAt : Infinity;
  }

  /** Lets a ready retry through if there is budget for it. If not, blocks the retry. */
  enter(record: number, now: number): void {
    const { records } = this.#ordering;
    const state = records.stateOf(record) & ~(POSITION | NEEDS_BUDGET);
    if (this.#records.length === 0 && this.#budget.withdraw(now)) {
      records.setState(record, state | READY | REPEATED);
      return this.#ordering.enter(record);
    }
    records.setState(record, state | BLOCKED);
    this.#records.add(record, 0);
    this.open(now);
  }

  /** Lets retries through if time alone made budget for them. */
  look(): void {
    if (this.#records.length === 0) return;
    const now = this.#queue.time.now();
    if (now >= this.opensAt) this.open(now);
  }

  /** Called before an item is handed out. */
  prepareTake(): void {
    if (--this.#shares < 0 || burst.number !== this.#burst || this.#records.length > 0) this.#readTime();
  }

  /** Reads the time of a hand-out. Not in `prepareTake`, which must be small because each hand-out calls it. */
  #readTime(): void {
    const { time } = this.#queue;
    const before = this.#takenAt;
    this.#takenAt = this.#recentTime.now(); // first, because the clock may throw
    this.#shares = 0;
    if (this.#takenAt !== before || !isRealTime(time)) return;
    if (burst.number === 0) burst.isTooLong(); // begins a burst
    this.#burst = burst.number;
    this.#shares = HAND_OUTS_PER_LOOK - 1;
  }

  /** Called for each record that the order has handed out. A first attempt makes budget. Never throws. */
  taken(record: number): void {
    if ((this.#ordering.records.stateOf(record) & (REPEATED | EXEMPT)) !== 0) return;
    this.#budget.deposit(this.#takenAt);
    if (this.#records.length > 0) this.open(this.#takenAt);
  }

  /** Called when the item of a blocked retry was added, as a first attempt. */
  added(record: number): void {
    if (!this.#queue.folds) this.letThrough(record);
  }

  /** Lets a blocked retry through, as a first attempt. */
  letThrough(record: number): void {
    this.#records.delete(record);
    this.#let(record, 0);
    this.#changed();
  }

  /** Removes a retry that was cancelled. */
  remove(record: number): void {
    this.#records.delete(record);
    this.#changed();
  }

  /** Lets blocked retries through while there is budget; without a time, all of them, as first attempts. */
  open(now?: number): void {
    const flags = now === undefined ? 0 : REPEATED;
    for (let left = this.#records.length; left > 0 && (flags === 0 || this.#budget.withdraw(now!)); left--) {
      this.#let(this.#records.shift(), flags);
    }
    this.#changed();
  }

  /** Passes a record to the order. If that fails, the record stays blocked. */
  #let(record: number, flags: number): void {
    const { records } = this.#ordering;
    const state = records.stateOf(record);
    records.setState(record, state & ~POSITION | READY | flags);
    try {
      this.#ordering.enter(record);
    } catch (error) {
      records.setState(record, state);
      this.#records.add(record, 0);
      this.#report(error);
    }
  }

  #changed(): void {
    if (this.#records.length > 0) this.#unwatch ??= this.#options.watch(() => this.#queue.look());
    else this.#unwatch = this.#unwatch?.() as undefined;
    try {
      this.#ordering.followQuietly();
    } catch (error) { // the clock threw; the record that is pushed or popped now must not be lost
      this.#report(error);
    }
  }
}
