import { argumentError, brokenRule, inspect, invalidArgument } from "./errors.ts";
import { suggest } from "./suggest.ts";

/** Whether a value is an object with all of these methods. */
export function hasMethods(value: unknown, ...methods: string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof (value as Record<string, unknown>)[method] === "function");
}

/** What a value must be: a test, and how a message words it, as in `"must be a string"`. */
export type Rule = readonly [holds: (value: never) => boolean, words: string];

/** A text. */
export const A_STRING: Rule = [(value: unknown) => typeof value === "string", "must be a string"];
/** `true` or `false`. */
export const A_BOOLEAN: Rule = [(value: unknown) => typeof value === "boolean", "must be true or false"];
/** A function. */
export const A_FUNCTION: Rule = [(value: unknown) => typeof value === "function", "must be a function"];
/** A clock: an object with `now`, `setTimeout` and `clearTimeout`. */
export const A_CLOCK: Rule = [
  (value: unknown) => hasMethods(value, "now", "setTimeout", "clearTimeout"),
  "must be a clock",
];
/** An `AbortSignal`, of whatever realm. */
export const A_SIGNAL: Rule = [isSignal, "must be an AbortSignal"];
/** A whole number from 1 on. */
export const A_POSITIVE_INTEGER: Rule = [isPositiveInteger, "must be a positive integer"];
/** A whole number from 0 on. */
export const A_NON_NEGATIVE_INTEGER: Rule = [isNonNegativeInteger, "must be a non-negative integer"];

function isPositiveInteger(value: unknown): boolean {
  return isNonNegativeInteger(value) && value !== 0;
}

function isNonNegativeInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Refuses what are no options: anything but an object. */
export function requireObject(action: string, options: unknown): asserts options is object {
  if (typeof options !== "object" || options === null || Array.isArray(options) || isSignal(options)) {
    throw argumentError(action, brokenRule("options", "must be an object", options));
  }
}

/**
 * Refuses what are no options: anything but an object, an option that has no rule, and one that breaks its rule. What
 * is undefined counts as left out, and symbols are ignored.
 */
export function requireRules(action: string, options: unknown, rules: Readonly<Record<string, Rule>>): void {
  requireOptions(action, options, Object.keys(rules));
  for (const [option, rule] of Object.entries(rules)) {
    const value = (options as Record<string, unknown>)[option];
    if (value !== undefined) requireRule(action, option, value, rule);
  }
}

/** Refuses a value that breaks a rule. */
export function requireRule(action: string, option: string, value: unknown, [holds, words]: Rule): void {
  if (!holds(value as never)) throw invalidArgument(action, option, words, value);
}

/** Refuses what are no options: anything but an object, and an object with an option that is not among those known. */
export function requireOptions(action: string, options: unknown, known: readonly string[]): void {
  requireObject(action, options);
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined && !known.includes(option)) {
      throw argumentError(action, `${inspect(option)} is not an option here${suggest(option, known)}`);
    }
  }
}

/**
 * Refuses anything but a whole number from 0 on. Faster than {@linkcode requireRule}: buckets call it for each token.
 */
export function requireInteger(action: string, option: string, value: unknown): void {
  if (!isNonNegativeInteger(value)) requireRule(action, option, value, A_NON_NEGATIVE_INTEGER);
}

/** Whether a value is an `AbortSignal`, of whatever realm. */
export function isSignal(value: unknown): boolean {
  return hasMethods(value, "addEventListener", "removeEventListener");
}
