import type { RetryBudgetOptions } from "@workqueue/core";
import type { RetryKind } from "@workqueue/engine";
import { type CreditNumbers, firstsBefore, newCredit, RetryCredit } from "@workqueue/core/internal/policy";
import { type Item, Line, placeOfRetry } from "./item.ts";
import type { BudgetState } from "./state.ts";
import { FAR } from "./time.ts";
import type { Order } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of blocked retries that one call makes ready. */
const BATCH = 200;

/** Length of a second, in microseconds. */
const SECOND = 1_000_000;

/** Sets the options of a budget, which may be new. Returns its state. */
export function setBudget(
  { ratio, minRate, ...others }: RetryBudgetOptions,
  before: CreditNumbers = newCredit(),
): BudgetState {
  others satisfies Record<string, never>; // an option that is left out here is a type error
  const rate = minRate >= SECOND ? Number.MAX_VALUE : minRate; // two calls are at least a microsecond apart
  return Object.assign(before, { ratio, minRate: rate }); // not a new object, because other objects refer to this one
}

/** Queue that a budget is for. */
interface Budgeted {
  readonly tx: Transaction;
  readonly order: Order;
  /** Makes a key ready that is not processing. */
  makeReady(item: Item, place: number, priority: number): void;
}

/**
 * Retry budget of a queue. A retry that is due without budget is blocked. It becomes ready in the first call that runs
 * when there is budget for it. Its time counts from then on, unless its priority grows with its age.
 */
export class RetryBudget {
  readonly #tx: Transaction;
  readonly #queue: Budgeted;
  readonly #state: BudgetState;
  readonly #credit: RetryCredit;

  constructor(queue: Budgeted, state: BudgetState) {
    this.#tx = queue.tx;
    this.#queue = queue;
    this.#state = state;
    this.#credit = new RetryCredit(state, state, SECOND);
  }

  /** Number of blocked retries. */
  get blocked(): number {
    const tx = this.#tx;
    tx.flush();
    return tx.state.lines[Line.BLOCKED_RETRY];
  }

  /** Makes blocked retries ready for which there is budget, the earliest first. */
  open(): void {
    const tx = this.#tx;
    if (this.blocked === 0) return;
    const blocked = tx.items(`line = ${Line.BLOCKED_RETRY} ORDER BY place LIMIT ${BATCH}`);
    for (const item of blocked) {
      if (!this.#credit.withdraw(this.#tx.now)) return;
      this.#unblock(item, placeOfRetry(tx.tick(), item.is_retry));
    }
  }

  /** Handles a key that is added, or becomes due, while it is not processing. */
  come(item: Item, place: number, priority: number, retry: RetryKind, folds: boolean): void {
    if (item.line === Line.BLOCKED_RETRY) {
      item.priority = Math.max(item.priority, priority);
      if (retry !== 0 || folds) return;
      item.is_retry = 0; // it becomes ready as a first attempt
      this.#unblock(item, place);
    } else if (retry !== 0 && item.line === null) {
      this.#comeAsRetry(item, place, priority, retry);
    } else {
      this.#queue.makeReady(item, place, priority);
    }
  }

  /** Handles a key that was added again, and whose work has ended. */
  comeBack(item: Item, place: number, priority: number, isHandedBack: boolean): void {
    if (!isHandedBack && item.is_retry !== 0) return this.#comeAsRetry(item, place, priority, item.is_retry);
    if (isHandedBack) item.is_retry = 1; // neither a retry nor a first attempt
    this.#queue.makeReady(item, place, priority);
  }

  /** Deposits the credit of first attempts that begin, and makes blocked retries ready. */
  begin(firsts: number): void {
    if (firsts === 0) return;
    if (this.#state.ratio > 0) this.#credit.deposit(this.#tx.now, firsts);
    this.open();
  }

  /** Number of first attempts that can begin before a blocked retry becomes ready. */
  get firstsBefore(): number {
    return this.blocked > 0 ? firstsBefore(this.#state, this.#state) : Infinity;
  }

  /** Returns the time from which a blocked retry can become ready without a first attempt; `undefined` if none can. */
  opensAt(): number | undefined {
    if (this.blocked === 0) return undefined;
    const { now } = this.#tx;
    if (this.#credit.isEnough(now)) return now;
    const at = Math.min(Math.ceil(this.#credit.opensAt), FAR);
    return at < FAR ? Math.max(at, now) : undefined;
  }

  #comeAsRetry(item: Item, place: number, priority: number, retry: RetryKind): void {
    item.is_retry = retry;
    if (this.blocked === 0 && this.#credit.withdraw(this.#tx.now)) {
      return this.#queue.makeReady(item, placeOfRetry(place, retry), priority);
    }
    item.line = Line.BLOCKED_RETRY;
    item.place = place;
    item.priority = priority;
    this.#tx.mayChangeEarlier = true;
  }

  #unblock(item: Item, place: number): void {
    const { priority } = item;
    const at = this.#queue.order.ages ? item.place! : place;
    item.line = item.place = null;
    item.priority = 0;
    this.#queue.makeReady(item, at, priority);
  }
}
