import { DURATION_RULE, tryParseDuration } from "../lib/base/duration.ts";
import { inspect } from "../lib/base/errors.ts";
import type { DurationField, NumberField, PlainField } from "./fields.ts";

/** The text for a duration without an end. */
export const UNLIMITED = "unlimited";

/** Whether an option takes infinity. */
export function isInfinite({ infinite = false, max }: DurationField | NumberField): boolean {
  return infinite && max === undefined;
}

/** Reads the value of an option as its declaration says; `undefined` if it breaks the rule that {@linkcode ruleOf} words. */
export function readPlainValue(field: PlainField, value: unknown): unknown {
  const read = field.kind === "duration" ? readDuration(field, value) : value;
  return isAllowed(field, read) ? read : undefined;
}

/**
 * Where no negative duration is allowed, a text must not have a minus, not even in "-0s": the pattern of a JSON Schema
 * cannot tell that this is zero.
 */
function readDuration({ min = 0, infinite = false }: DurationField, value: unknown): number | undefined {
  if (infinite && (value === UNLIMITED || value === Infinity)) return Infinity;
  return min >= 0 && typeof value === "string" && value.startsWith("-") ? undefined : tryParseDuration(value);
}

function isAllowed(field: PlainField, value: unknown): boolean {
  switch (field.kind) {
    case "duration":
      return typeof value === "number" && isWithin(value, field.min ?? 0, field.max);
    case "integer":
      return Number.isSafeInteger(value) && isWithin(value as number, field.min, field.max);
    case "number":
      return typeof value === "number" && (Number.isFinite(value) || (value === Infinity && isInfinite(field))) &&
        isWithin(value, field.min, field.max);
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string" && isWithin(countCharacters(value), field.minLength, field.maxLength);
    case "enum":
      return field.values.includes(value as string);
  }
}

function isWithin(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max; // false for NaN
}

/** As JSON Schema counts them: code points. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Words what an option takes: "must be …". */
export function ruleOf(field: PlainField): string {
  switch (field.kind) {
    case "duration":
      return DURATION_RULE + bounds(field.min ?? 0, field.max, " ms") +
        (isInfinite(field) ? `, or ${inspect(UNLIMITED)}` : "");
    case "integer":
      if (field.max === undefined && field.min === 0) return "must be a non-negative integer";
      if (field.max === undefined && field.min === 1) return "must be a positive integer";
      return `must be an integer${bounds(field.min, field.max)}`;
    case "number": {
      const { min, max, infinite = false } = field;
      const number = infinite || max !== undefined ? "number" : "finite number";
      return max === undefined && min === 0
        ? `must be a non-negative ${number}`
        : `must be a ${number}${bounds(min, max)}`;
    }
    case "boolean":
      return "must be true or false";
    case "string":
      return "must be a string" + bounds(field.minLength, field.maxLength, " characters");
    case "enum":
      return `must be one of ${field.values.map(inspect).join(", ")}`;
  }
}

function bounds(min: number | undefined, max: number | undefined, unit = ""): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}${unit}`;
  if (min !== undefined) return ` of at least ${min}${unit}`;
  return max === undefined ? "" : ` of at most ${max}${unit}`;
}
