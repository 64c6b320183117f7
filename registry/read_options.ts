import { DURATION_RULE, tryParseDuration } from "../lib/base/duration.ts";
import { brokenRule, inspect } from "../lib/base/errors.ts";
import type { DurationField, Field, Fields, LimitersField, OptionsOf, PlainField, PlainOptionsOf } from "./fields.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { suggest } from "../lib/base/suggest.ts";

/** A value that was read and may still have to be made: a limiter is built only once all else is known to be right. */
export type Made<V = unknown> = () => V;

/** What reading a document needs to know, and where it puts the problems it finds. */
export interface Reader {
  /** Notes a problem at a JSON Pointer, and the value that is the cause. */
  fail(path: string, message: string, value?: unknown): void;
  /** Reads a limiter's config or name; `undefined` after a problem was noted. */
  limiter(option: string, value: unknown, path: string): Made<RateLimiter> | undefined;
}

/** Reads one value by its declaration; `undefined` after a problem was noted. */
export function readField(
  field: Field,
  option: string,
  value: unknown,
  path: string,
  reader: Reader,
): Made | undefined {
  if (field.kind === "limiter") return reader.limiter(option, value, path);
  if (field.kind === "limiters") return readLimiters(field, option, value, path, reader);
  const read = field.kind === "duration" ? readDuration(field, value) : value;
  if (!isAllowed(field, read)) {
    reader.fail(path, brokenRule(option, ruleOf(field), value), value);
    return undefined;
  }
  return () => read;
}

/** Where nothing is negative a text has no minus, not even "-0s": a pattern in a schema cannot do sums. */
function readDuration({ min = 0 }: DurationField, value: unknown): number | undefined {
  return min >= 0 && typeof value === "string" && value.startsWith("-") ? undefined : tryParseDuration(value);
}

/** A longer list is a mistake or an attack. */
export const MAX_ITEMS = 1000;

function readLimiters(
  { minItems = 0 }: LimitersField,
  option: string,
  value: unknown,
  path: string,
  reader: Reader,
): Made<RateLimiter[]> | undefined {
  if (!Array.isArray(value) || value.length < minItems || value.length > MAX_ITEMS) {
    const rule = `must be a list of ${minItems} to ${MAX_ITEMS} limiters`;
    reader.fail(path, brokenRule(option, rule, value), value);
    return undefined;
  }
  const makers: Made<RateLimiter>[] = [];
  for (const [i, item] of value.entries()) {
    const make = reader.limiter(`${option}[${i}]`, item, `${path}/${i}`);
    if (make !== undefined) makers.push(make);
  }
  return () => makers.map((make) => make());
}

function isAllowed(field: PlainField, value: unknown): boolean {
  switch (field.kind) {
    case "duration":
      return typeof value === "number" && isWithin(value, field.min ?? 0, field.max);
    case "integer":
      return Number.isSafeInteger(value) && isWithin(value as number, field.min, field.max);
    case "number":
      return typeof value === "number" && isWithin(value, field.min ?? -Number.MAX_VALUE, field.max);
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

/** Words what a field takes: "must be …". */
function ruleOf(field: PlainField): string {
  switch (field.kind) {
    case "duration":
      return DURATION_RULE + bounds(field.min ?? 0, field.max, " ms");
    case "integer":
    case "number": {
      const { kind, min, max } = field;
      const article = kind === "integer" ? "an" : "a";
      if (max === undefined && min === 0) return `must be a non-negative ${kind}`;
      if (max === undefined && min === 1 && kind === "integer") return "must be a positive integer";
      return `must be ${article} ${kind}${bounds(min, max)}`;
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

/** Options that were read. */
export interface ReadOptions<F extends Fields> {
  /** Those that are no limiters. */
  readonly plain: PlainOptionsOf<F>;
  /** Builds the limiters among them and returns all. */
  readonly make: Made<OptionsOf<F>>;
}

/** Reads an object of options by its declarations; notes every problem, not only the first. */
export function readOptions<F extends Fields>(
  fields: F,
  input: Readonly<Record<string, unknown>>,
  path: string,
  reader: Reader,
): ReadOptions<F> {
  const known = Object.keys(fields);
  for (const option of Object.keys(input)) {
    if (known.includes(option)) continue;
    const message = `${inspect(option)} is not an option here${suggest(option, known)}`;
    reader.fail(`${path}/${escapePointer(option)}`, message);
  }
  const plain: Record<string, unknown> = {};
  const makers: Record<string, Made> = {};
  for (const [option, field] of Object.entries(fields)) {
    const at = `${path}/${escapePointer(option)}`;
    const given = own(input, option);
    const value = given === undefined ? own(field, "default") : given;
    if (value !== undefined) {
      const make = readField(field, option, value, at, reader);
      if (make === undefined) continue;
      if (field.kind === "limiter" || field.kind === "limiters") makers[option] = make;
      else plain[option] = make();
    } else if (own(field, "required") !== false) {
      reader.fail(at, `'${option}' is missing: ${field.description}`);
    }
  }
  return {
    plain: plain as PlainOptionsOf<F>,
    make: () => {
      const built = Object.entries(makers).map(([option, make]) => [option, make()]);
      return { ...plain, ...Object.fromEntries(built) };
    },
  };
}

/** A property of the object itself: what other code put on `Object.prototype` is none of it. */
export function own(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Escapes a key for use in a JSON Pointer, as RFC 6901 says. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Whether a value is an object such as JSON has: no array, no instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
