/** Rules for the options of queues in a file. */

import { requireRules, type Rule } from "@workqueue/core/internal";
import { A_FUNCTION } from "@workqueue/core/internal";
import { COMMON_OPTIONS, intervalsOf, OWN_OPTIONS, refuseMemoryOptions, type RulesOf } from "@workqueue/engine";
import type { SqliteQueueOptions } from "./contract.ts";
import { PRODUCT } from "./product.ts";

const A_TEXT: Rule = [(value: unknown) => typeof value === "string" && value !== "", "must be a non-empty string"];

/** Options of `createSqliteQueue`. */
export const OF_QUEUE: RulesOf<keyof SqliteQueueOptions> = {
  name: A_TEXT,
  path: A_TEXT,
  keyOf: A_FUNCTION,
  ...OWN_OPTIONS,
  ...COMMON_OPTIONS,
};

/**
 * Checks options.
 *
 * @throws {TypeError} If an option is unknown, missing, of the wrong type or only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function requireSqliteOptions(action: string, options: object): void {
  refuseMemoryOptions(PRODUCT, action, options);
  requireRules(action, options, OF_QUEUE);
  for (const name of ["name", "path"] as const) {
    requireRules(action, { [name]: (options as Partial<SqliteQueueOptions>)[name] ?? "" }, OF_QUEUE);
  }
  intervalsOf(action, options);
}
