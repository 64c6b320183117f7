/** Rules for the options of queues in a file. */

import { A_FUNCTION, invalidArgument, requireRules, type Rule } from "@workqueue/core/internal";
import {
  COMMON_OPTIONS,
  intervalsOf,
  OWN_OPTIONS,
  refuseMemoryOptions,
  resultsOf,
  type RulesOf,
} from "@workqueue/engine";
import type { SqliteQueueOptions, SqliteQueuesOptions } from "./contract.ts";
import { PRODUCT } from "./product.ts";

const A_TEXT: Rule = [(value: unknown) => typeof value === "string" && value !== "", "must be a non-empty string"];
const A_DURABILITY: Rule = [
  (value: unknown) => value === "full" || value === "normal",
  'must be "full" or "normal"',
];

const A_THREAD: Rule = [
  (value: unknown) => typeof value === "boolean" || isFileUrl(value),
  "must be a boolean or the URL of a file",
];

/** SQLite gives some names a meaning. Here they would be names of files, which nobody expects. */
const A_PATH: Rule = [
  (value: unknown) => A_TEXT[0](value as never) && !/^(:|file:)/.test(value as string),
  "must be the path of a file, such as queue.db",
];

const A_NAME: Rule = [
  (value: unknown) => typeof value === "string" && value !== "" && value.isWellFormed(),
  `${A_TEXT[1]} without unpaired surrogates`,
];

/** Options of `sqliteQueues`. */
export const OF_QUEUES: RulesOf<keyof SqliteQueuesOptions> = {
  path: A_PATH,
  durability: A_DURABILITY,
  thread: A_THREAD,
  ...COMMON_OPTIONS,
};

/** Options of a single queue of `sqliteQueues`. */
export const OF_ONE_QUEUE: RulesOf<keyof typeof COMMON_OPTIONS | "keyOf" | "durability" | "thread"> = {
  keyOf: A_FUNCTION,
  durability: A_DURABILITY,
  thread: A_THREAD,
  ...COMMON_OPTIONS,
};

/** Options of `createSqliteQueue`. */
export const OF_QUEUE: RulesOf<keyof SqliteQueueOptions> = {
  name: A_NAME,
  ...OWN_OPTIONS,
  ...OF_QUEUES,
  ...OF_ONE_QUEUE,
};

/**
 * Checks options against a set of rules.
 *
 * @param needed The options that must be there.
 *
 * @throws {TypeError} If an option is unknown, missing, of the wrong type or only for in-memory queues.
 * @throws {RangeError} If an option is out of range.
 */
export function requireSqliteOptions(
  action: string,
  options: object,
  rules: Readonly<Record<string, Rule>>,
  needed: readonly string[] = [],
): void {
  refuseMemoryOptions(PRODUCT, action, options);
  requireRules(action, options, rules);
  for (const name of needed) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) throw invalidArgument(action, name, A_TEXT[1], value);
  }
  intervalsOf(action, options);
  resultsOf(action, options);
}

function isFileUrl(value: unknown): boolean {
  return value instanceof URL ? value.protocol === "file:" : typeof value === "string" && value.startsWith("file://");
}
