import { METRICS } from "./brands.ts";
import type { Clock } from "./clock.ts";
import { argumentError, brokenRule, inspect, invalidArgument } from "./errors.ts";
import { suggest } from "./suggest.ts";

/** Reports whether a value is an object with all of these methods. */
export function hasMethods(value: unknown, ...methods: string[]): boolean {
  return typeof value === "object" &&
    methods.every((method) => typeof (value as Record<string, unknown> | null)?.[method] === "function");
}

/**
 * Requirement for a value: a test, and the words that describe the requirement in messages, such as `"must be a
 * string"`.
 */
export type Rule = readonly [holds: (value: never) => boolean, words: string];

/** Rule for a string. */
export const A_STRING: Rule = [(value: unknown) => typeof value === "string", "must be a string"];
/** Rule for `true` or `false`. */
export const A_BOOLEAN: Rule = [(value: unknown) => typeof value === "boolean", "must be true or false"];
/** Rule for a function. */
export const A_FUNCTION: Rule = [(value: unknown) => typeof value === "function", "must be a function"];
/** Rule for a clock: an object with `now`, which returns a finite number, `setTimeout` and `clearTimeout`. */
export const A_CLOCK: Rule = [isClock, "must have timers, and a finite now()"];
/** Rule for an `AbortSignal` from any realm. */
export const A_SIGNAL: Rule = [isSignal, "must be an AbortSignal"];
/** Rule for an integer of at least 1. */
export const A_POSITIVE_INTEGER: Rule = [isPositiveInteger, "must be a positive integer"];
/** Rule for an integer of at least 0. */
export const A_NON_NEGATIVE_INTEGER: Rule = [isNonNegativeInteger, "must be a non-negative integer"];
/** Rule for a metrics provider. */
export const A_METRICS_PROVIDER: Rule = [
  (value) => (value as { [METRICS]?: unknown } | null)?.[METRICS] !== undefined,
  "must be a metrics provider, such as InMemoryMetrics, or adaptMetrics(own)",
];
/** Rule for a retry budget. */
export const A_RETRY_BUDGET: Rule = [
  isRetryBudget,
  "must be an object of the non-negative numbers 'ratio' and 'minRate'",
];

const A_COST: Rule = [(cost) => Number.isFinite(cost) && cost as number >= 0, "must be a finite non-negative number"];

/** Throws if the cost of an attempt is not a finite number of at least 0. */
export function requireCost(action: string, cost: unknown): void {
  requireRule(action, "cost", cost, A_COST);
}

function isClock(value: unknown): boolean {
  try {
    return hasMethods(value, "now", "setTimeout", "clearTimeout") && Number.isFinite((value as Clock).now());
  } catch {
    return false;
  }
}

function isPositiveInteger(value: unknown): boolean {
  return isNonNegativeInteger(value) && value !== 0;
}

function isNonNegativeInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRetryBudget(value: unknown): boolean {
  const { ratio, minRate, ...others } = Object(value);
  return Object.keys(others).length === 0 && [ratio, minRate].every((number) => Number.isFinite(number) && number >= 0);
}

/**
 * Throws unless `options` is an object. Arrays and signals are rejected too.
 *
 * @throws {TypeError} If `options` is not an object, or is an array or a signal.
 */
export function requireObject(action: string, options: unknown): asserts options is object {
  if (typeof options !== "object" || options === null || Array.isArray(options) || isSignal(options)) {
    throw argumentError(action, brokenRule("options", "must be an object", options));
  }
}

/**
 * Throws unless `options` is an object in which every option is known and satisfies its rule. Undefined options are
 * treated as omitted. Symbol keys are ignored.
 *
 * @throws {TypeError} If `options` is not an object, if an option is unknown, or if a value that is not a number breaks
 * its rule.
 * @throws {RangeError} If a value that is a number breaks its rule.
 */
export function requireRules(action: string, options: unknown, rules: Readonly<Record<string, Rule>>): void {
  const known = Object.keys(rules);
  requireOptions(action, options, known);
  for (const option of known) {
    const value = (options as Record<string, unknown>)[option];
    if (value !== undefined) requireRule(action, option, value, rules[option]!);
  }
}

/**
 * Throws if a value breaks a rule.
 *
 * @throws {RangeError} If the value breaks the rule and is a number.
 * @throws {TypeError} If the value breaks the rule and is anything else.
 */
export function requireRule(action: string, option: string, value: unknown, [holds, words]: Rule): void {
  if (!holds(value as never)) throw invalidArgument(action, option, words, value);
}

/**
 * Throws unless `options` is an object that has only known options. Undefined options are ignored.
 *
 * @throws {TypeError} If `options` is not an object, or has an unknown option.
 */
export function requireOptions(action: string, options: unknown, known: readonly string[]): void {
  requireObject(action, options);
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !known.includes(option)) {
      throw argumentError(action, `${inspect(option)} is not an option here${suggest(option, known)}`);
    }
  }
}

/**
 * Throws unless an object of the user can get a symbol as a property.
 *
 * @throws {TypeError} If the object is frozen, sealed or not extensible.
 */
export function requireExtensible(action: string, own: object): void {
  if (!Object.isExtensible(own)) throw invalidArgument(action, "own", "must not be frozen or sealed", own);
}

/**
 * Throws unless a value is a non-negative integer. Token buckets make this check for every request, so it is faster
 * than {@linkcode requireRule}.
 *
 * @throws {RangeError} If the value is a number but not a non-negative integer.
 * @throws {TypeError} If the value is not a number.
 */
export function requireInteger(action: string, option: string, value: unknown): void {
  if (!isNonNegativeInteger(value)) requireRule(action, option, value, A_NON_NEGATIVE_INTEGER);
}

/** Reports whether a value is an `AbortSignal` from any realm. */
export function isSignal(value: unknown): boolean {
  return hasMethods(value, "addEventListener", "removeEventListener");
}
