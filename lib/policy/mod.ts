/**
 * Policies of queues, over numbers that the caller keeps, for queues in memory and for engines. **Unstable:** this
 * entry point may change in any release. Only packages of this repository should use this entry point, because each of
 * them requires exactly this version of the core.
 *
 * @example Usage
 * ```ts
 * import { newCredit, RetryCredit } from "@workqueue/core/internal/policy";
 * import { assertEquals } from "@std/assert";
 *
 * const credit = new RetryCredit({ ratio: 1, minRate: 0 }, newCredit(), 1000);
 * credit.deposit(0);
 * assertEquals([credit.withdraw(0), credit.withdraw(0)], [true, false]);
 * ```
 *
 * @module
 */

export { matcherOf, nextRedriveAt } from "./given_up.ts";
export { headStartOf, priorityWithin } from "./priority.ts";
export type { RetryBudgetOptions } from "../contracts/delaying_queue.ts";
export { FOREVER, timeFor, tokensIn } from "./tokens.ts";
export { type CreditNumbers, type Deposit, firstsBefore, newCredit, RetryCredit } from "./retry_credit.ts";
export {
  endPause,
  type FairNumbers,
  type FairRules,
  FairShare,
  type GroupNumbers,
  newFrom,
  setPause,
} from "./fair_share.ts";
