/**
 * The kinds of option that a limiter can declare.
 *
 * A declaration is plain data, and everything else comes from it: the TypeScript types of the options
 * ({@linkcode OptionsInput}, {@linkcode OptionsOf}), their validation, and their JSON Schema.
 *
 * @module
 */

import type { Duration } from "../lib/base/duration.ts";
import type { LimiterConfig } from "../limiters/limiter_config.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

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
  /** The least number of characters: Unicode code points. */
  readonly minLength?: number;
  /** The greatest number of characters. */
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

/** A field that is not made of limiters. */
export type PlainField = Exclude<Field, LimiterField | LimitersField>;
