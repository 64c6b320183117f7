import { ChurnMap } from "../base/churn_map.ts";
import type { Clock } from "../base/clock.ts";
import { firstErrorReporter } from "../base/first_error.ts";
import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import type { BlockedRetries } from "../contracts/queue_hooks.ts";
import { Deadlines } from "../structures/deadlines.ts";
import { NumberHeap } from "../structures/number_heap.ts";
import { Records } from "../structures/records.ts";
import { orderOf } from "./order.ts";
import type { LiveRetryBudget } from "./live_retry_budget.ts";
import { RetryBudget } from "./retry_budget.ts";

/** Members that a discipline may lack. */
const OPTIONAL = ["peek", "done", "groupOf", "pauseGroup", "resumeGroup"];

/**
 * Discipline that blocks retries without budget, and leaves the order of all other entries to another discipline. A
 * blocked entry is not in the other discipline.
 */
export class RetryGate<T> implements QueueDiscipline<T>, BlockedRetries<T> {
  /** Called when the time from which a retry may be let through has changed. */
  onChange = (): void => {};
  readonly #inner: QueueDiscipline<T>;
  readonly #options: RetryBudgetOptions & Partial<Pick<LiveRetryBudget, "watch">>;
  readonly #budget: RetryBudget;
  readonly #clock: Clock;
  /** Whether adding a blocked item leaves it blocked. */
  readonly #folds: boolean;
  /** Blocked entries, in the order in which they became due. */
  readonly retries: Deadlines<ReadyEntry<T>> = new Deadlines<ReadyEntry<T>>();
  /** Delayed keys that are retries. */
  readonly #delayed = new ChurnMap<unknown, true>();
  /**
   * Keys that come, or were added again while processing, and are not first attempts when they become ready. The value
   * is whether they need budget then.
   */
  readonly #marked = new ChurnMap<unknown, boolean>();
  /** Ready entries that are not first attempts. */
  readonly #repeated = new WeakSet<object>();
  /** Function that stops watching the options. Defined while entries are blocked. */
  #unwatch: (() => void) | undefined;
  readonly #report = firstErrorReporter("make retry ready");

  constructor(options: RetryBudgetOptions, clock: Clock, inner: QueueDiscipline<T> = fifo(), folds: boolean) {
    this.#options = options;
    this.#budget = new RetryBudget(options);
    this.#clock = clock;
    this.#inner = inner;
    this.#folds = folds;
    orderOf(inner, new Records(false, true), clock, this); // passes the clock to a built-in discipline
    const members = inner as object as Record<string, ((...args: unknown[]) => unknown) | undefined>;
    for (const name of OPTIONAL) if (members[name]) Object.assign(this, { [name]: members[name].bind(inner) });
  }

  get length(): number {
    return this.#inner.length;
  }

  get blocked(): number {
    return this.retries.length + (this.#inner.blocked ?? 0);
  }

  get nextChangeAt(): number {
    return this.#inner.nextChangeAt ?? Infinity;
  }

  /** Time from which a blocked retry may be let through without a first attempt; `Infinity` if there is none. */
  get opensAt(): number {
    return this.retries.length > 0 ? this.#budget.opensAt : Infinity;
  }

  push(entry: ReadyEntry<T>): void {
    const now = this.#marked.get(entry.key) ? this.#clock.now() : 0; // first, because the clock may throw
    const needsBudget = this.unmark(entry.key);
    if (needsBudget) {
      this.retries.add(entry, 0);
      return this.#open(now);
    }
    if (needsBudget === false) this.#repeated.add(entry);
    this.#inner.push(entry);
  }

  pop(): ReadyEntry<T> | undefined {
    const now = this.#clock.now(); // first, because the clock may throw
    const entry = this.#inner.pop();
    if (!this.#repeated.delete(entry!)) {
      this.#budget.deposit(now);
      if (this.retries.length > 0) this.#open(now);
    }
    return entry;
  }

  /** Lets a blocked entry through, as a first attempt, unless it is only due once more. */
  touch(entry: ReadyEntry<T>): void {
    const isDue = this.unmark(entry.key);
    if (!this.retries.has(entry)) return this.#inner.touch(entry);
    if (!isDue && !this.#folds) this.makeReady(entry);
  }

  /** Lets a blocked entry through, as a first attempt. */
  makeReady(entry: ReadyEntry<T>): void {
    this.retries.remove(entry);
    this.#let(entry);
    this.#changed();
  }

  /** Records whether the attempt at the end of a key's delay is a retry. */
  delay(key: unknown, isRetry: boolean): void {
    if (isRetry) this.#delayed.set(key, true);
    else this.#delayed.delete(key);
  }

  /** Records that a key's delay has ended. Returns whether the attempt at its end is a retry. */
  due(key: unknown): boolean {
    const isRetry = this.#delayed.get(key) === true;
    this.#delayed.delete(key);
    return isRetry;
  }

  /**
   * Must be called right before a key is added to the queue. The key is a retry if `isRetry`. A key that was added
   * again while processing stays a first attempt if any add made it one.
   */
  come(key: unknown, isRetry: boolean, wasAddedAgain: boolean): void {
    if (!isRetry) this.#marked.delete(key);
    else if (!wasAddedAgain) this.#marked.set(key, true);
  }

  /** Records that a key that was added again while processing is neither a retry nor a first attempt. */
  exempt(key: unknown): void {
    this.#marked.set(key, false);
  }

  /** Forgets what the next attempt at a key is. Returns whether it needed budget; `undefined` for a first attempt. */
  unmark(key: unknown): boolean | undefined {
    const needsBudget = this.#marked.get(key);
    this.#marked.delete(key);
    return needsBudget;
  }

  /** Lets blocked entries through while there is budget or, if `isFree`, all of them as first attempts. */
  open(isFree = false): void {
    this.#open(this.#clock.now(), isFree);
  }

  #open(now: number, isFree = false): void {
    for (let left = this.retries.length; left > 0; left--) {
      if (!isFree && !this.#budget.withdraw(now)) break;
      const entry = this.retries.shift();
      if (!isFree) this.#repeated.add(entry);
      this.#let(entry);
    }
    this.#changed();
  }

  /** Passes an entry to the other discipline. If that fails, the entry stays blocked. */
  #let(entry: ReadyEntry<T>): void {
    try {
      this.#inner.push(entry);
    } catch (error) {
      this.retries.add(entry, 0);
      this.#report(error);
    }
  }

  #changed(): void {
    if (this.retries.length > 0) this.#unwatch ??= this.#options.watch?.(() => this.onChange());
    else this.#unwatch = this.#unwatch?.() as undefined;
    try {
      this.onChange();
    } catch (error) { // the clock threw; the entry that is pushed or popped now must not be lost
      this.#report(error);
    }
  }
}

/** Returns a discipline that is first in, first out, like a queue without a discipline. */
function fifo<T>(): QueueDiscipline<T> {
  const entries = new NumberHeap<ReadyEntry<T>>();
  return {
    push: (entry) => void entries.push(entry, 0),
    pop: () => entries.pop(),
    touch() {},
    get length() {
      return entries.length;
    },
    peek: (limit) => entries.first(limit),
  };
}
