import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";

/** Seconds until the credit of a first attempt expires. */
const LIFETIME = 10;
/** Credit that a retry costs. Credit is counted in whole numbers, so that no rounding error adds up. */
const COST = 1_000_000;
/** Credit by which a computed credit may be too small because of rounding. */
const ROUNDING = 0.001;
/**
 * Seconds whose first attempts are counted together, to save memory. Their credit expires with that of the earliest
 * one.
 */
const STEP = 0.01;

/** First attempts within {@linkcode STEP} seconds: the time of the earliest of them, and their credit. */
export type Deposit = [at: number, credit: number];

/** Numbers of a retry budget, which the caller keeps. */
export interface CreditNumbers {
  /** Credit that is left. */
  left: number;
  /** Part of the deposited credit that was used. The earliest credit is used first. */
  used: number;
  /** Time of the latest retry that needed no credit; missing if there was none. */
  latest?: number | undefined;
  /** Deposits that have not expired, the earliest first. */
  readonly deposits: Deposit[];
}

/** Returns the numbers of a budget that was never used. */
export function newCredit(): CreditNumbers {
  return { left: 0, used: 0, latest: undefined, deposits: [] };
}

/** Returns the number of first attempts that can begin before their credit is enough for one more retry. */
export function firstsBefore({ left }: CreditNumbers, { ratio }: RetryBudgetOptions): number {
  const credit = Math.floor(ratio * COST + ROUNDING);
  return credit > 0 ? Math.max(Math.ceil((COST - left) / credit), 1) : Infinity;
}

/**
 * Policy of a retry budget, after RetryBudget of Twitter's Finagle. Each first attempt deposits credit for `ratio`
 * retries, which expires ten seconds after the attempt began. In addition, `minRate` retries per second need no credit.
 *
 * So, for all times s < t, the retries in (s, t] are at most `ratio` × the first attempts in (s − 10 s, t] + `minRate`
 * × (t − s) + 1.
 */
export class RetryCredit {
  readonly #options: RetryBudgetOptions;
  readonly #numbers: CreditNumbers;
  readonly #second: number;
  /** Latest deposit, and its latest time. */
  #last: Deposit | undefined;
  #lastAt = -Infinity;

  /**
   * Creates a policy over the numbers of a budget.
   *
   * @param options The options. They are read at each use, because a reload may change them.
   * @param second The length of a second, in the unit of all times.
   */
  constructor(options: RetryBudgetOptions, numbers: CreditNumbers, second: number) {
    this.#options = options;
    this.#numbers = numbers;
    this.#second = second;
    this.#last = numbers.deposits.at(-1);
  }

  /** Time from which a retry is allowed without credit; `Infinity` if never. */
  get opensAt(): number {
    const { minRate } = this.#options;
    return minRate > 0 ? (this.#numbers.latest ?? -Infinity) + this.#second / minRate : Infinity;
  }

  /** Reports whether the credit is enough for a retry. */
  isEnough(now: number): boolean {
    this.#expire(now);
    return this.#numbers.left >= COST;
  }

  /** Records that first attempts began. */
  deposit(now: number, attempts = 1): void {
    const credit = attempts * Math.floor(this.#options.ratio * COST + ROUNDING);
    if (now !== this.#lastAt) this.#beginDeposit(now);
    this.#numbers.left += credit;
    this.#last![1] += credit;
  }

  #beginDeposit(now: number): void {
    const { deposits } = this.#numbers;
    this.#lastAt = now;
    this.#expire(now);
    if (deposits.length === 0 || now - this.#last![0] >= STEP * this.#second) deposits.push(this.#last = [now, 0]);
  }

  /** Takes the budget of one retry. Reports whether there is enough. */
  withdraw(now: number): boolean {
    const numbers = this.#numbers;
    this.#expire(now);
    if (numbers.left >= COST) {
      numbers.left -= COST;
      numbers.used += COST;
    } else if (now < this.opensAt) return false;
    else numbers.latest = now;
    return true;
  }

  #expire(now: number): void {
    const numbers = this.#numbers;
    const { deposits } = numbers;
    while (deposits.length > 0 && deposits[0]![0] <= now - LIFETIME * this.#second) {
      const [, credit] = deposits.shift()!;
      numbers.left -= Math.max(credit - numbers.used, 0);
      numbers.used = Math.max(numbers.used - credit, 0);
      if (deposits.length === 0) this.#lastAt = -Infinity; // the next first attempt begins a deposit
    }
  }
}
