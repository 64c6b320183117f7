/** Rules for the options of queues of any engine. */

import type { RetryBudgetOptions } from "@workqueue/core";
import {
  A_BOOLEAN,
  A_FUNCTION,
  A_METRICS_PROVIDER,
  A_POSITIVE_INTEGER,
  A_RETENTION,
  A_RETRY_BUDGET,
  argumentError,
  hasMethods,
  invalidArgument,
  requireDuration,
  requireOptions,
} from "@workqueue/core/internal";
import type { RemoteQueueOptions } from "./contract.ts";
import type { DisciplinePlan } from "./discipline_plan.ts";
import type { EngineSettings } from "./engine.ts";

/**
 * Rules for the options in `Option`, with one rule per option. Omitting a rule is a type error. A rule is a condition,
 * and the words for it in messages.
 */
export type RulesOf<Option extends PropertyKey> = Readonly<
  Record<Option, readonly [holds: (value: never) => boolean, words: string]>
>;

/** Options that come from the document if there is one. */
export type DocumentOption =
  | "limiter"
  | "limiters"
  | "discipline"
  | "disciplines"
  | "retryBudget"
  | "keepGivenUp"
  | "forgetAfter"
  | "addWhileDelayed";

/** Shortest and longest allowed interval, in milliseconds. */
const MIN = 100;
const MAX = 86_400_000;

/** Rule that accepts any value, because `requireInterval`, `forgetAfterOf` and `resultsOf` check durations. */
export const AN_INTERVAL: RulesOf<string>[string] = [() => true, ""];

/** Rules for the options that can be set for all queues of a document, and also for a single queue. */
export const COMMON_OPTIONS: RulesOf<Exclude<keyof RemoteQueueOptions, DocumentOption | "keyOf">> = {
  leaseDuration: AN_INTERVAL,
  maxStalls: A_POSITIVE_INTEGER,
  callTimeout: AN_INTERVAL,
  results: AN_INTERVAL,
  retriesFirst: A_BOOLEAN,
  retryPriority: [Number.isFinite, "must be a finite number"],
  metrics: A_METRICS_PROVIDER,
  onQueueError: A_FUNCTION,
};

/** Settings for each value of `addWhileDelayed`. */
export const ADDS_WHILE_DELAYED: Readonly<
  Record<NonNullable<RemoteQueueOptions["addWhileDelayed"]>, Pick<EngineSettings, "replaces" | "folds">>
> = {
  keep: { replaces: false, folds: false },
  replace: { replaces: true, folds: false },
  fold: { replaces: true, folds: true },
};

/** Rules for the options that a queue without a document has in addition. */
export const OWN_OPTIONS: RulesOf<DocumentOption> = {
  limiter: [isPartConfig, 'must be a limiter as in a config document, such as { "type": "exponential", … }'],
  limiters: [(value: unknown) => hasMethods(value, "describe", "build"), "must be a registry of limiters"],
  discipline: [isPartConfig, 'must be a discipline as in a config document, such as { "type": "priority", … }'],
  disciplines: [(value: unknown) => hasMethods(value, "describe", "build"), "must be a registry of disciplines"],
  retryBudget: A_RETRY_BUDGET,
  keepGivenUp: A_RETENTION,
  forgetAfter: AN_INTERVAL,
  addWhileDelayed: [
    (value: unknown) => typeof value === "string" && Object.hasOwn(ADDS_WHILE_DELAYED, value),
    `must be one of ${Object.keys(ADDS_WHILE_DELAYED).map((value) => JSON.stringify(value)).join(", ")}`,
  ],
};

/**
 * Returns the options that are intervals, in milliseconds.
 *
 * @throws {TypeError} If an interval is not a duration.
 * @throws {RangeError} If an interval is out of range.
 */
export function intervalsOf(
  action: string,
  { leaseDuration = "30s", callTimeout = "10s" }: Pick<RemoteQueueOptions, "leaseDuration" | "callTimeout">,
): { leaseDuration: number; callTimeout: number } {
  return {
    leaseDuration: requireInterval(action, "leaseDuration", leaseDuration),
    callTimeout: requireInterval(action, "callTimeout", callTimeout),
  };
}

/**
 * Returns the settings of the option `results`.
 *
 * @throws {TypeError} If the option, or its `keepFor`, is of the wrong type or unknown.
 * @throws {RangeError} If `keepFor` is out of range.
 */
export function resultsOf(
  action: string,
  { results }: Pick<RemoteQueueOptions, "results">,
): { storesResults: boolean; keepOutcomesFor: number | undefined } {
  if (results === undefined) return { storesResults: false, keepOutcomesFor: undefined };
  requireOptions(`${action} with 'results'`, results, ["keepFor"]);
  const keepOutcomesFor = requireInterval(action, "results.keepFor", results.keepFor);
  return { storesResults: true, keepOutcomesFor };
}

/**
 * Returns the option `retriesFirst`.
 *
 * @throws {TypeError} If the option is set for a queue with a discipline.
 */
export function retriesFirstOf(
  action: string,
  { retriesFirst = false }: Pick<RemoteQueueOptions, "retriesFirst">,
  discipline: DisciplinePlan | undefined,
): boolean {
  if (!retriesFirst || discipline === undefined) return retriesFirst;
  throw argumentError(action, "'retriesFirst' is for a queue that is first in, first out", TypeError);
}

/** Returns a copy of the options of a retry budget, which may be an object of `createRetryBudget`. */
export function budgetOf({ ratio, minRate }: RetryBudgetOptions): RetryBudgetOptions {
  return { ratio, minRate };
}

/**
 * Returns the option `forgetAfter` in milliseconds, if it is given.
 *
 * @throws {TypeError} If it is not a duration.
 * @throws {RangeError} If it is negative.
 */
export function forgetAfterOf(
  action: string,
  { forgetAfter }: Pick<RemoteQueueOptions, "forgetAfter">,
): number | undefined {
  if (forgetAfter === undefined) return undefined;
  const ms = requireDuration(action, "forgetAfter", forgetAfter);
  if (ms >= 0) return ms;
  throw invalidArgument(action, "forgetAfter", "must be at least 0 ms", ms);
}

/**
 * Converts a duration to milliseconds. The duration must be from 100 ms to a maximum, one day by default.
 *
 * @param words The maximum in words.
 *
 * @throws {TypeError} If the value is not a duration.
 * @throws {RangeError} If the duration is out of range.
 */
export function requireInterval(action: string, option: string, value: unknown, max = MAX, words = "a day"): number {
  const ms = requireDuration(action, option, value);
  if (ms >= MIN && ms <= max) return ms;
  throw invalidArgument(action, option, `must be a duration from 100 ms to ${words}`, ms);
}

function isPartConfig(value: unknown): boolean {
  return typeof value === "object" && value !== null && "type" in value;
}
