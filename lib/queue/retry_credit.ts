import type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";

/** Time, in milliseconds, until the credit of a first attempt expires. */
const LIFETIME = 10_000;
/** Credit that a retry costs. Credit is counted in whole numbers, so that no rounding error adds up. */
const COST = 1_000_000;
/** Milliseconds whose first attempts are counted together, to save memory. Their credit expires with the earliest. */
const STEP = 10;

/** Credit of the first attempts within {@linkcode STEP} milliseconds. */
interface Deposit {
  /** Time of the earliest of these attempts. */
  readonly at: number;
  credit: number;
}

/**
 * Credit of a budget for retries, after RetryBudget of Twitter's Finagle. Each first attempt deposits credit for
 * `ratio` retries, which expires ten seconds after the attempt began. In addition, `minRate` retries per second need no
 * credit.
 *
 * So, for all times s < t, the retries in (s, t] are at most `ratio` × the first attempts in (s − 10 s, t] + `minRate`
 * × (t − s) + 1.
 */
export class RetryCredit {
  readonly #options: RetryBudgetOptions;
  /** Deposits that have not expired, the earliest first. */
  readonly #deposits: Deposit[] = [];
  /** Latest deposit, and its latest time. */
  #last: Deposit | undefined = undefined;
  #lastAt = -Infinity;
  /** Credit that is left, and credit of the deposits that was used. The earliest credit is used first. */
  #left = 0;
  #used = 0;
  /** Time of the latest retry that needed no credit. */
  #latest = -Infinity;

  /** @param options The options. They are read at each use, because a reload may change them. */
  constructor(options: RetryBudgetOptions) {
    this.#options = options;
  }

  /** Time from which a retry is allowed without credit; `Infinity` if never. */
  get opensAt(): number {
    const { minRate } = this.#options;
    return minRate > 0 ? this.#latest + 1000 / minRate : Infinity;
  }

  /** Records that a first attempt began. */
  deposit(now: number): void {
    const credit = Math.floor(this.#options.ratio * COST + 0.001);
    if (now !== this.#lastAt) this.#beginDeposit(now);
    this.#left += credit;
    this.#last!.credit += credit;
  }

  #beginDeposit(now: number): void {
    this.#lastAt = now;
    this.#expire(now);
    if (this.#deposits.length === 0 || now - this.#last!.at >= STEP) {
      this.#deposits.push(this.#last = { at: now, credit: 0 });
    }
  }

  /** Takes the budget of one retry. Reports whether there is enough. */
  withdraw(now: number): boolean {
    this.#expire(now);
    if (this.#left >= COST) {
      this.#left -= COST;
      this.#used += COST;
    } else if (now < this.opensAt) return false;
    else this.#latest = now;
    return true;
  }

  #expire(now: number): void {
    while (this.#deposits.length > 0 && this.#deposits[0]!.at <= now - LIFETIME) {
      const { credit } = this.#deposits.shift()!;
      this.#left -= Math.max(credit - this.#used, 0);
      this.#used = Math.max(this.#used - credit, 0);
      if (this.#deposits.length === 0) this.#lastAt = -Infinity; // the next first attempt begins a deposit
    }
  }
}
