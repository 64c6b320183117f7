/** Rules for the options of queues and their methods. */

import {
  A_BOOLEAN,
  A_CLOCK,
  A_FUNCTION,
  A_METRICS_PROVIDER,
  A_NON_NEGATIVE_INTEGER,
  A_SIGNAL,
  A_STRING,
  hasMethods,
  isSignal,
  requireOptions,
  requireRules,
  type Rule,
} from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { AddOptions, DrainOptions, SnapshotOptions, WorkQueueOptions } from "../contracts/work_queue.ts";
import { brings, ORDER, RETRIES } from "./opt_ins.ts";

const ADD = "add item";

/**
 * Returns the `priority` option of a call that adds an item; 0 by default.
 *
 * @throws {RangeError} If the priority is `NaN` or infinite.
 * @throws {TypeError} If the priority is not a number, or an option is unknown.
 */
export function priorityOf(options: AddOptions | undefined, known: readonly string[] = ["priority"]): number {
  if (options === undefined) return 0;
  const priority: unknown = (options as AddOptions | null)?.priority;
  if (priority === undefined || hasOthers(options)) requireOptions(ADD, options, known);
  if (priority !== undefined && !Number.isFinite(priority)) {
    throw invalidArgument(ADD, "priority", "must be a finite number", priority);
  }
  return (priority ?? 0) as number;
}

/** Reports whether an object has options other than a priority. Faster than `Object.keys` for these objects. */
function hasOthers(options: AddOptions): boolean {
  for (const name in options) if (name !== "priority") return true;
  return false;
}

/**
 * Returns the `signal` option of a call that waits.
 *
 * @throws {TypeError} If the options are invalid.
 */
export function signalOf(
  action: string,
  options: { signal?: AbortSignal | undefined } | undefined,
): AbortSignal | undefined {
  if (options === undefined || isSignal(options?.signal)) return options?.signal;
  requireRules(action, options, { signal: A_SIGNAL });
  return undefined;
}

/**
 * Returns the `limit` option of a snapshot; 100 by default.
 *
 * @throws {RangeError} If the limit is a number but not a non-negative integer.
 * @throws {TypeError} If the limit is not a number, or an option is unknown.
 */
export function limitOf(options: SnapshotOptions = {}): number {
  requireRules("make snapshot", options, { limit: A_NON_NEGATIVE_INTEGER });
  return options.limit ?? 100;
}

/**
 * Validates the options of `shutDownWithDrain`, and returns them.
 *
 * @throws {TypeError} If an option is unknown or invalid.
 */
export function readDrainOptions(options: DrainOptions = {}): DrainOptions {
  requireRules("drain queue", options, {
    delayed: [
      (value: unknown) => value === "drop" || value === "flush" || value === "wait",
      'must be one of "drop", "flush", "wait"',
    ],
    signal: A_SIGNAL,
  });
  return options;
}

/** Rules for the options of work queues (layer 1). */
export const WORK_QUEUE_RULES: Readonly<Record<keyof WorkQueueOptions<unknown>, Rule>> = {
  name: A_STRING,
  keyOf: A_FUNCTION,
  clock: A_CLOCK,
  metrics: A_METRICS_PROVIDER,
  priorityLevels: [isNumbersByName, "must be an object of distinct numbers"],
  discipline: [
    (value: unknown) => brings(value, ORDER),
    "must be a discipline, such as createPriorityDiscipline(), or adaptDiscipline(own)",
  ],
};

/** Reports whether a value is a discipline. */
export function isDiscipline(value: unknown): value is QueueDiscipline<unknown> {
  return hasMethods(value, "push", "pop", "touch") && (value as QueueDiscipline<unknown>).length >= 0;
}

function isNumbersByName(value: unknown): boolean {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false; // rejects a Map, for example
  const numbers = Object.values(value as object);
  return numbers.every(Number.isFinite) && new Set(numbers).size === numbers.length;
}

/**
 * Returns the rules for the options of delaying and rate limiting queues (layers 2 and 3).
 *
 * @param maxSleep The rule for `maxSleep`. The rule is an argument, so that layer 1 does not import the duration
 * parser.
 */
export function delayingRules(
  maxSleep: Rule,
): Readonly<Record<keyof DelayingQueueOptions<unknown>, Rule>> {
  return {
    ...WORK_QUEUE_RULES,
    maxSleep,
    ref: A_BOOLEAN,
    onDrop: A_FUNCTION,
    retryBudget: [(value: unknown) => brings(value, RETRIES), "must be made by createRetryBudget()"],
    addWhileDelayed: [
      (value: unknown) => value === "keep" || value === "replace" || value === "fold",
      'must be one of "keep", "replace", "fold"',
    ],
  };
}
