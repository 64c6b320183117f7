/**
 * The kinds of option that a limiter can declare.
 *
 * A declaration is plain data, and everything else comes from it: the TypeScript types of the options
 * ({@linkcode OptionsInput}, {@linkcode OptionsOf}), their validation, and their JSON Schema.
 *
 * @module
 */

import { type Duration, DURATION_RULE, tryParseDuration } from "../lib/duration.ts";
import { brokenRule, inspect } from "../lib/errors.ts";
import type { LimiterConfig } from "./limiter_config.ts";
import type { RateLimiter } from "./rate_limiter.ts";
import { suggest } from "./suggest.ts";

/** What every kind of option has. */
export interface FieldBase {
  /** What the option does, in a sentence; shown by editors. */
  readonly description: string;
  /**
   * Whether the option has to be given. An option with a `default` never has to.
   *
   * @default {true}
   */
  readonly required?: boolean;
}

/** A length of time: given as a {@linkcode Duration}, handed to `create` in milliseconds. */
export interface DurationField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "duration";
  /**
   * The shortest allowed, in milliseconds.
   *
   * @default {0}
   */
  readonly min?: number;
  /** The longest allowed, in milliseconds. */
  readonly max?: number;
  /** Used when the option is left out. */
  readonly default?: Duration;
}

/** A whole number. */
export interface IntegerField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "integer";
  /** The smallest allowed. */
  readonly min?: number;
  /** The largest allowed. */
  readonly max?: number;
  /** Used when the option is left out. */
  readonly default?: number;
}

/** A number; `Infinity` only where nothing bounds it above, `NaN` never. */
export interface NumberField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "number";
  /** The smallest allowed. */
  readonly min?: number;
  /** The largest allowed. */
  readonly max?: number;
  /** Used when the option is left out. */
  readonly default?: number;
}

/** Yes or no. */
export interface BooleanField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "boolean";
  /** Used when the option is left out. */
  readonly default?: boolean;
}

/** A text. */
export interface StringField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "string";
  /** The least number of UTF-16 code units. */
  readonly minLength?: number;
  /** The greatest number of UTF-16 code units. */
  readonly maxLength?: number;
  /** Used when the option is left out. */
  readonly default?: string;
}

/** One of a set of texts. */
export interface EnumField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "enum";
  /** The set. */
  readonly values: readonly string[];
  /** Used when the option is left out. */
  readonly default?: string;
}

/** A limiter: given as a config or as the name of one in the document, handed to `create` built. */
export interface LimiterField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "limiter";
}

/** A list of limiters. */
export interface LimitersField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "limiters";
  /** The least number of limiters. */
  readonly minItems?: number;
}

/** The declaration of one option. */
export type Field =
  | DurationField
  | IntegerField
  | NumberField
  | BooleanField
  | StringField
  | EnumField
  | LimiterField
  | LimitersField;

/** The declarations of a limiter's options, by name. */
export type Fields = { readonly [option: string]: Field };

/** The type of one option as one writes it. */
export type InputOf<F extends Field> = F extends { kind: "duration" } ? Duration
  : F extends { kind: "integer" | "number" } ? number
  : F extends { kind: "boolean" } ? boolean
  : F extends { kind: "string" } ? string
  : F extends { kind: "enum"; values: readonly (infer V)[] } ? V
  : F extends { kind: "limiter" } ? LimiterConfig
  : F extends { kind: "limiters" } ? readonly LimiterConfig[]
  : never;

/** The type of one option as `create` gets it. */
export type ValueOf<F extends Field> = F extends { kind: "duration" } ? number
  : F extends { kind: "limiter" } ? RateLimiter
  : F extends { kind: "limiters" } ? readonly RateLimiter[]
  : InputOf<F>;

/** The type of the options as one writes them: in a config or in the call of a `create…` function. */
export type OptionsInput<F extends Fields> =
  & { -readonly [K in keyof F as F[K] extends { default: unknown } | { required: false } ? never : K]: InputOf<F[K]> }
  & { -readonly [K in keyof F as F[K] extends { default: unknown } | { required: false } ? K : never]?: InputOf<F[K]> };

/** The type of the options as `create` gets them: checked, durations in milliseconds, limiters built. */
export type OptionsOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends { default: unknown } ? ValueOf<F[K]>
    : F[K] extends { required: false } ? ValueOf<F[K]> | undefined
    : ValueOf<F[K]>;
};

/** The part of {@linkcode OptionsOf} that is known before any limiter is built. */
export type PlainOptionsOf<F extends Fields> = OptionsOf<
  { [K in keyof F as F[K] extends LimiterField | LimitersField ? never : K]: F[K] }
>;

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
  const read = field.kind === "duration" ? tryParseDuration(value) : value;
  if (!isAllowed(field, read)) {
    reader.fail(path, brokenRule(option, ruleOf(field), value), value);
    return undefined;
  }
  return () => read;
}

function readLimiters(
  { minItems = 0 }: LimitersField,
  option: string,
  value: unknown,
  path: string,
  reader: Reader,
): Made<RateLimiter[]> | undefined {
  if (!Array.isArray(value) || value.length < minItems) {
    const rule = minItems === 0 ? "must be a list of limiters" : `must be a list of at least ${minItems} limiter(s)`;
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

type ScalarField = Exclude<Field, LimiterField | LimitersField>;

function isAllowed(field: ScalarField, value: unknown): boolean {
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
      return typeof value === "string" && isWithin(value.length, field.minLength, field.maxLength);
    case "enum":
      return field.values.includes(value as string);
  }
}

function isWithin(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max; // false for NaN
}

/** Words what a field takes: "must be …". */
function ruleOf(field: ScalarField): string {
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
    const given = Object.hasOwn(input, option) ? input[option] : undefined;
    const value = given === undefined && "default" in field ? field.default : given;
    if (value !== undefined) {
      const make = readField(field, option, value, at, reader);
      if (make === undefined) continue;
      if (field.kind === "limiter" || field.kind === "limiters") makers[option] = make;
      else plain[option] = make();
    } else if (field.required !== false) {
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

/** The JSON Schema of one option. */
export function fieldSchema(field: Field): Record<string, unknown> {
  const { description } = field;
  const common = "default" in field ? { description, default: field.default } : { description };
  switch (field.kind) {
    case "duration":
      return { ...common, ...durationSchema(field.min ?? 0, field.max) };
    case "integer":
      return {
        ...common,
        type: "integer",
        minimum: field.min ?? Number.MIN_SAFE_INTEGER,
        maximum: field.max ?? Number.MAX_SAFE_INTEGER,
      };
    case "number":
      return { ...common, type: "number", ...defined({ minimum: field.min, maximum: field.max }) };
    case "boolean":
      return { ...common, type: "boolean" };
    case "string":
      return { ...common, type: "string", ...defined({ minLength: field.minLength, maxLength: field.maxLength }) };
    case "enum":
      return { ...common, enum: field.values };
    case "limiter":
      return { ...common, $ref: "#/$defs/limiterOrName" };
    case "limiters":
      return { ...common, type: "array", items: { $ref: "#/$defs/limiterOrName" }, minItems: field.minItems ?? 0 };
  }
}

/** The JSON Schema of an object of options. */
export function optionsSchema(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([option, field]) => [option, fieldSchema(field)])),
    required: entries.filter(([, f]) => !("default" in f) && f.required !== false).map(([option]) => option),
    additionalProperties: false,
  };
}

/** A schema cannot compare durations that are texts: their bounds are checked on loading only. */
function durationSchema(min: number, max: number | undefined): Record<string, unknown> {
  const unit = "(?:ns|us|µs|μs|ms|s|m|h)";
  return {
    anyOf: [
      { type: "number", ...defined({ minimum: min, maximum: max }) },
      {
        type: "string",
        pattern: `^${min < 0 ? "[+-]" : "\\+"}?(?:0|(?:(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)${unit})+)$`,
        maxLength: 100,
      },
    ],
  };
}

function defined(keywords: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(keywords).filter((entry): entry is [string, number] => entry[1] !== undefined),
  );
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
