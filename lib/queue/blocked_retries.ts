import { firstErrorReporter } from "../base/first_error.ts";
import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";
import { RecordHeap } from "../structures/record_heap.ts";
import type { Records } from "../structures/records.ts";
import type { RETRIES } from "./opt_ins.ts";
import { BLOCKED, NEEDS_BUDGET, POSITION, READY, REPEATED } from "./positions.ts";
import { RetryCredit } from "./retry_credit.ts";

/** Retry budget, as queues see it. */
export interface MakesRetries {
  [RETRIES](queue: BudgetedQueue): BlockedRetries;
}

/** Options of a retry budget that may change. */
interface LiveOptions extends RetryBudgetOptions {
  /** Calls `callback` when the options change. Returns an unsubscribe function. */
  watch(callback: () => void): () => void;
}

/** Queue whose retries need budget. */
export interface BudgetedQueue {
  readonly records: Records;
  /** Passes a ready key to the order of the queue. */
  push(record: number): void;
  /** Called when the number of blocked retries, or the time from which one may be let through, may have changed. */
  changed(count: number): void;
  /** Called when the options have changed: pending calls and their timer must be brought up to date. */
  follow(): void;
}

/**
 * Retries that are due and wait for budget, in the order in which they became due. They are in front of the order of
 * the queue, which doesn't know them.
 */
export class BlockedRetries {
  readonly #queue: BudgetedQueue;
  readonly #options: LiveOptions;
  readonly #budget: RetryCredit;
  readonly #records = new RecordHeap();
  /** Function that stops watching the options. Defined while retries are blocked. */
  #unwatch: (() => void) | undefined;
  readonly #report = firstErrorReporter("make retry ready");

  constructor(options: LiveOptions, queue: BudgetedQueue) {
    this.#options = options;
    this.#budget = new RetryCredit(options);
    this.#queue = queue;
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
    const { records } = this.#queue;
    const state = records.stateOf(record) & ~(POSITION | NEEDS_BUDGET);
    if (this.#records.length === 0 && this.#budget.withdraw(now)) {
      records.setState(record, state | READY | REPEATED);
      return this.#queue.push(record);
    }
    records.setState(record, state | BLOCKED);
    this.#records.add(record, 0);
    this.open(now);
  }

  /** Lets retries through if time alone made budget for them. */
  look(now: number): void {
    if (now >= this.opensAt) this.open(now);
  }

  /** Records that a first attempt has begun. */
  deposit(now: number): void {
    this.#budget.deposit(now);
    if (this.#records.length > 0) this.open(now);
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
    const { records } = this.#queue;
    const state = records.stateOf(record);
    records.setState(record, state & ~POSITION | READY | flags);
    try {
      this.#queue.push(record);
    } catch (error) {
      records.setState(record, state);
      this.#records.add(record, 0);
      this.#report(error);
    }
  }

  #changed(): void {
    if (this.#records.length > 0) this.#unwatch ??= this.#options.watch(() => this.#queue.follow());
    else this.#unwatch = this.#unwatch?.() as undefined;
    try {
      this.#queue.changed(this.#records.length);
    } catch (error) { // the clock threw; the record that is pushed or popped now must not be lost
      this.#report(error);
    }
  }
}
