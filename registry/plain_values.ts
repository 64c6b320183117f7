import { DURATION_RULE, tryParseDuration } from "../lib/base/duration.ts";
import { inspect } from "../lib/base/errors.ts";
import { escapePointer, isPlainObject, PROTOTYPE_NAMES } from "../lib/base/objects.ts";
import type { DurationField, NumberField, PlainField } from "./fields.ts";

/** String for an unlimited duration in a config. */
export const UNLIMITED = "unlimited";

/** Smallest and largest allowed weight. The bounds keep computed values finite. */
export const MIN_WEIGHT = 0.001;
export const MAX_WEIGHT = 1000;

/** Reports whether an option accepts infinity. */
export function isInfinite({ infinite = false, max }: DurationField | NumberField): boolean {
  return infinite && max === undefined;
}

/**
 * Reads the value of an option according to its declaration. Returns `undefined` if the value breaks the rule that
 * {@linkcode ruleOf} describes.
 */
export function readPlainValue(field: PlainField, value: unknown): unknown {
  const read = field.kind === "duration" ? readDuration(field, value) : value;
  if (!isAllowed(field, read)) return undefined;
  return field.kind === "weights" ? new Map(Object.entries(read as object)) : read;
}

/** A value that breaks a rule: the value of an option, or a value inside it. */
interface Offence {
  readonly option: string;
  /** JSON Pointer, relative to the option's value. */
  readonly path: string;
  readonly rule: string;
  readonly value: unknown;
}

/** Returns the problems with a value that {@linkcode readPlainValue} refused. There is at least one problem. */
export function offencesOf(field: PlainField, option: string, value: unknown): readonly [Offence, ...Offence[]] {
  const whole: Offence = { option, path: "", rule: ruleOf(field), value };
  if (field.kind !== "weights" || !isPlainObject(value)) return [whole];
  const [first = whole, ...others] = Object.entries(value).flatMap(([name, weight]) => {
    const rule = weightRule(name, weight);
    return rule === undefined
      ? []
      : [{ option: `${option}.${name}`, path: `/${escapePointer(name)}`, rule, value: weight }];
  });
  return [first, ...others];
}

function weightRule(name: string, weight: unknown): string | undefined {
  if (PROTOTYPE_NAMES.includes(name)) return "must be left out, as that means something to JavaScript objects";
  return typeof weight === "number" && isWithin(weight, MIN_WEIGHT, MAX_WEIGHT)
    ? undefined
    : `must be a number${bounds(MIN_WEIGHT, MAX_WEIGHT)}`;
}

/**
 * Reads a duration. If negative durations aren't allowed, a string with a minus sign is refused, even `"-0s"`: the
 * pattern of a JSON Schema can't detect that `"-0s"` is zero.
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
    case "weights":
      return isPlainObject(value) &&
        Object.entries(value).every(([name, weight]) => weightRule(name, weight) === undefined);
  }
}

function isWithin(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max; // false for NaN
}

/** Counts code points, as JSON Schema does. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns the message for a required option that was omitted, as a phrase. `description` is a sentence or a phrase. */
export function missingOption(option: string, description: string): string {
  const phrase = description.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
  return `missing required option '${option}'${phrase === "" ? "" : ` (${phrase})`}`;
}

/** Returns the rule for an option, as a phrase: "must be …". */
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
      if (field.maxLength === undefined && field.minLength === 1) return "must be a non-empty string";
      return "must be a string" + bounds(field.minLength, field.maxLength, " characters");
    case "enum":
      return `must be one of ${field.values.map(inspect).join(", ")}`;
    case "weights":
      return `must be an object of numbers${bounds(MIN_WEIGHT, MAX_WEIGHT)} by name`;
  }
}

function bounds(min: number | undefined, max: number | undefined, unit = ""): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}${unit}`;
  if (min !== undefined) return ` of at least ${min}${unit}`;
  return max === undefined ? "" : ` of at most ${max}${unit}`;
}
