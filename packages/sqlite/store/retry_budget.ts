import type { RetryBudgetOptions } from "@workqueue/core";
import { type Item, Line } from "./item.ts";
import type { BudgetState } from "./state.ts";
import { FAR } from "./time.ts";
import type { Order } from "./order.ts";
import type { Transaction } from "./transaction.ts";

/** Credit that a retry costs. */
const COST = 1_000_000;
/** Time until the credit of a first attempt expires, in microseconds. */
const LIFETIME = 10_000_000;
/** Time, in microseconds, whose first attempts are counted together. */
const STEP = 10_000;
/** Maximum number of blocked retries that one call makes ready. */
const BATCH = 200;

/** Returns the numbers of a budget, which keeps the credit of the budget before. */
export function newBudget({ ratio, minRate, ...others }: RetryBudgetOptions, before?: BudgetState): BudgetState {
  others satisfies Record<string, never>; // an option that is left out here is a type error
  const interval = minRate >= 1_000_000 ? 0 : minRate > 0 ? Math.min(1_000_000 / minRate, FAR) : undefined;
  return {
    left: 0,
    used: 0,
    deposits: [],
    ...before,
    interval,
    credit: Math.floor(ratio * COST + 0.001),
  };
}

/** Queue that a budget is for. */
interface Budgeted {
  readonly tx: Transaction;
  readonly order: Order;
  /** Makes a key ready that is not processing. */
  makeReady(item: Item, place: number, priority: number): void;
}

/**
 * Retry budget of a queue, as in memory: see lib/queue/retry_budget.ts and lib/queue/retry_gate.ts of the core. A retry
 * that is due without budget is blocked. It becomes ready in the first call that runs when there is budget for it. Its
 * time counts from then on, unless its priority grows with its age.
 */
export class RetryBudget {
  readonly #tx: Transaction;
  readonly #queue: Budgeted;

  constructor(queue: Budgeted) {
    this.#tx = queue.tx;
    this.#queue = queue;
  }

  get #state(): BudgetState {
    return this.#tx.state.budget!;
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
      if (!this.#withdraw()) return;
      item.is_retry = 1;
      this.#unblock(item, tx.tick());
    }
  }

  /** Handles a key that comes while it is not processing. */
  come(item: Item, place: number, priority: number, isRetry: boolean, folds: boolean): void {
    if (item.line === Line.BLOCKED_RETRY) {
      item.priority = Math.max(item.priority, priority);
      if (isRetry || folds) return;
      // It becomes ready as a first attempt.
      this.#unblock(item, place);
    } else if (isRetry && item.line === null) {
      this.#comeAsRetry(item, place, priority);
    } else {
      this.#queue.makeReady(item, place, priority);
    }
  }

  /** Handles a key that was added again, and whose work has ended. */
  comeBack(item: Item, place: number, priority: number, isHandedBack: boolean): void {
    if (!isHandedBack && item.is_retry === 1) {
      item.is_retry = 0;
      return this.#comeAsRetry(item, place, priority);
    }
    if (isHandedBack) item.is_retry = 1; // neither a retry nor a first attempt
    this.#queue.makeReady(item, place, priority);
  }

  /** Deposits the credit of first attempts that begin, and makes blocked retries ready. */
  begin(firsts: number): void {
    if (firsts === 0) return;
    this.#deposit(firsts);
    this.open();
  }

  /** Number of first attempts that can begin before a blocked retry becomes ready. */
  get firstsBefore(): number {
    const { credit, left } = this.#state;
    return this.blocked > 0 && credit > 0 ? Math.max(Math.ceil((COST - left) / credit), 1) : Infinity;
  }

  /** Returns the time from which a blocked retry can become ready without a first attempt; `undefined` if none can. */
  opensAt(): number | undefined {
    if (this.blocked === 0) return undefined;
    this.#expire();
    const { left, latest = -Infinity, interval } = this.#state;
    if (left >= COST) return this.#tx.now;
    return interval === undefined ? undefined : Math.max(Math.ceil(latest + interval), this.#tx.now);
  }

  #comeAsRetry(item: Item, place: number, priority: number): void {
    if (this.blocked === 0 && this.#withdraw()) {
      item.is_retry = 1;
      return this.#queue.makeReady(item, place, priority);
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

  #withdraw(): boolean {
    this.#expire();
    const state = this.#state;
    const { now } = this.#tx;
    const { latest = -Infinity, interval } = state;
    if (state.left >= COST) {
      state.left -= COST;
      state.used += COST;
    } else if (interval === undefined || now < latest + interval) {
      return false;
    } else {
      state.latest = now;
    }
    return true;
  }

  #deposit(firsts: number): void {
    this.#expire();
    const state = this.#state;
    const { now } = this.#tx;
    const amount = firsts * state.credit;
    if (amount === 0) return;
    state.left += amount;
    const latest = state.deposits.at(-1);
    if (latest !== undefined && now - latest[0] < STEP) latest[1] += amount;
    else state.deposits.push([now, amount]);
  }

  #expire(): void {
    const state = this.#state;
    const past = this.#tx.now - LIFETIME;
    while (state.deposits.length > 0 && state.deposits[0]![0] <= past) {
      const [, amount] = state.deposits.shift()!;
      state.left -= Math.max(amount - state.used, 0);
      state.used = Math.max(state.used - amount, 0);
    }
    if (state.deposits.length === 0) state.left = state.used = 0;
  }
}
