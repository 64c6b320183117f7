/**
 * Kinds of option that a limiter or another part of a config can declare.
 *
 * A declaration is plain data. The TypeScript types of the options ({@linkcode OptionsInput}, {@linkcode OptionsOf}),
 * their validation, and their JSON Schema are derived from the declaration.
 *
 * @module
 */

import type { Duration } from "../lib/base/duration.ts";
import type { GivenUpRetention } from "../lib/contracts/given_up.ts";
import type { RetryBudgetOptions } from "../lib/contracts/delaying_queue.ts";

export type { GivenUpRetention } from "../lib/contracts/given_up.ts";
export type { RetryBudgetOptions } from "../lib/contracts/delaying_queue.ts";

/** Members common to all kinds of option. */
export interface FieldBase {
  /** Effect of the option, in a sentence. Editors show this text. */
  readonly description: string;
  /**
   * Whether the option is required. An option with a `default` is never required.
   *
   * @default {true}
   */
  readonly required?: boolean | undefined;
  /**
   * Whether the part loses its counts when a reload changes the option, even though the part's definition has `update`.
   * If so, `reload` reports the change with `startsAfresh`.
   */
  readonly startsAfresh?: true | undefined;
}

/** A duration: given as a {@linkcode Duration}, passed to `create` in milliseconds. */
export interface DurationField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "duration";
  /**
   * Shortest allowed duration, in milliseconds.
   *
   * @default {0}
   */
  readonly min?: number | undefined;
  /** Longest allowed duration, in milliseconds. By default, there is no limit. */
  readonly max?: number | undefined;
  /**
   * Whether the duration may be unlimited. An unlimited duration is given as `Infinity` or, because JSON has no
   * infinity, as the string `"unlimited"`. It is passed to `create` as `Infinity`. Has no effect if `max` is set.
   *
   * @default {false}
   */
  readonly infinite?: boolean | undefined;
  /** Value used if the option is omitted. */
  readonly default?: Duration;
}

/** A whole number. */
export interface IntegerField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "integer";
  /** Smallest allowed value. By default, there is no limit. */
  readonly min?: number | undefined;
  /** Largest allowed value. By default, there is no limit. */
  readonly max?: number | undefined;
  /** Value used if the option is omitted. */
  readonly default?: number;
}

/** A number. `NaN` is never allowed. `Infinity` is allowed only with `infinite: true`. */
export interface NumberField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "number";
  /** Smallest allowed value. By default, there is no limit. */
  readonly min?: number | undefined;
  /** Largest allowed value. By default, there is no limit. */
  readonly max?: number | undefined;
  /**
   * Whether `Infinity` is allowed. Has no effect if `max` is set. JSON can't express `Infinity`; code, YAML and TOML
   * can.
   *
   * @default {false}
   */
  readonly infinite?: boolean | undefined;
  /** Value used if the option is omitted. */
  readonly default?: number;
}

/** A boolean. */
export interface BooleanField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "boolean";
  /** Value used if the option is omitted. */
  readonly default?: boolean;
}

/** A string. */
export interface StringField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "string";
  /** Smallest allowed length, in Unicode code points. By default, there is no limit. */
  readonly minLength?: number | undefined;
  /** Largest allowed length, in Unicode code points. By default, there is no limit. */
  readonly maxLength?: number | undefined;
  /** Value used if the option is omitted. */
  readonly default?: string;
}

/** One of a set of strings. */
export interface EnumField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "enum";
  /** The allowed strings. */
  readonly values: readonly string[];
  /** Value used if the option is omitted. */
  readonly default?: string;
}

/** An object that maps names to numbers from 0.001 to 1,000. Passed to `create` as a `Map`. */
export interface WeightsField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "weights";
  /** Value used if the option is omitted. */
  readonly default?: Readonly<Record<string, number>>;
}

/** A list of durations: given as {@linkcode Duration}s, passed to `create` in milliseconds. */
export interface DurationsField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "durations";
  /** Smallest allowed number of durations. Default: 0. */
  readonly minItems?: number | undefined;
  /**
   * Shortest allowed duration, in milliseconds.
   *
   * @default {0}
   */
  readonly min?: number | undefined;
  /** Longest allowed duration, in milliseconds. By default, there is no limit. */
  readonly max?: number | undefined;
  /** Value used if the option is omitted. */
  readonly default?: readonly Duration[];
}

/** A rate: an object with a `rate` per second and a `burst`. */
export interface RateField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "rate";
  /** Value used if the option is omitted. */
  readonly default?: Rate;
}

/** Value of an option that is a rate. */
export interface Rate {
  /** Number per second, on average: from 0.000001 to 1,000,000. */
  readonly rate: number;
  /** Maximum number at once: an integer from 1 to 1,000,000. */
  readonly burst: number;
}

/** A retry budget: an object with a `ratio` and a `minRate`. */
export interface RetryBudgetField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "retryBudget";
  /** Value used if the option is omitted. */
  readonly default?: RetryBudgetOptions;
}

/** A retention: a positive integer, or an object with such an integer as `max`, and a `maxAge`. */
export interface RetentionField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "retention";
  /** Value used if the option is omitted. */
  readonly default?: number | GivenUpRetention;
}

/** Declaration of an option that is plain data. */
export type PlainField =
  | DurationField
  | IntegerField
  | NumberField
  | BooleanField
  | StringField
  | EnumField
  | WeightsField
  | DurationsField
  | RateField
  | RetryBudgetField
  | RetentionField;

/**
 * An option whose value is a part, such as a limiter. The option is given as the part's config, or as the name of a
 * part in the document. `create` receives the built part. `Word` is the kind of part, such as `"limiter"`.
 */
export interface PartField<Word extends string> extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: Word;
  /**
   * Whether the option is a template, from which any number of parts are built, such as one for each group of items.
   * `create` receives a function that builds a new part with each call; in code, the option is such a function. In a
   * document, the option must be a config, not a name, because a name stands for one shared part. Names inside the
   * config are allowed, and refer to shared parts.
   *
   * The config is checked once, when it is read. At that time, one part is built and discarded, so that an error in
   * building parts is reported immediately, not when the first group needs its part.
   */
  readonly template?: true | undefined;
}

/** An option that is a list of parts, such as `"limiters"`. */
export interface PartsField<Word extends string> extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: `${Word}s`;
  /** Smallest allowed number of parts. Default: 0. */
  readonly minItems?: number | undefined;
  /** Value used if the option is omitted. */
  readonly default?: readonly [];
}

/** Declaration of one option: plain data, or parts of the kind `Word`. */
export type Field<Word extends string = never> = PlainField | PartField<Word> | PartsField<Word>;

/** Declarations of options, by name. */
export type Fields<Word extends string = never> = { readonly [option: string]: Field<Word> };

/** A function that creates a new part with each call. */
export interface Template<Part> {
  /** Creates a part. */
  (): Part;
  /**
   * Updates a part that an earlier template of the same option created, so that the part behaves like one that this
   * template creates. Returns the same part, or a replacement. If `update` throws, the part is unchanged. Templates
   * from a config have this method. For functions given in code, the method is optional.
   */
  update?(part: Part): Part;
  /** Whether `update` never throws, so that a part can be updated at its next use. */
  readonly neverRefuses?: boolean;
}

/** Type of one option as passed to `create`. `Parts` maps each kind of part to the type of a built part. */
export type ValueOf<F, Parts = unknown> = F extends { kind: "duration" | "integer" | "number" } ? number
  : F extends { kind: "boolean" } ? boolean
  : F extends { kind: "string" } ? string
  : F extends { kind: "weights" } ? ReadonlyMap<string, number>
  : F extends { kind: "durations" } ? readonly number[]
  : F extends { kind: "rate" } ? Rate
  : F extends { kind: "retryBudget" } ? RetryBudgetOptions
  : F extends { kind: "retention" } ? number | GivenUpRetention
  : F extends { kind: "enum"; values: readonly (infer V)[] } ? V
  : F extends { kind: keyof Parts; template: true } ? Template<Parts[F["kind"]]>
  : F extends { kind: keyof Parts } ? Parts[F["kind"]]
  : F extends { kind: `${infer Word extends keyof Parts & string}s` } ? readonly Parts[Word][]
  : never;

/** Type of one option as written in a config. `Parts` maps each kind of part to the type of its config. */
export type InputOf<F, Parts = unknown> = F extends { kind: keyof Parts; template: true }
  ? Exclude<Parts[F["kind"]], string> // not a name
  : InCodeOf<F, Parts>;

/** Type of one option as given in code. `Parts` maps each kind of part to the type of a part. */
export type InCodeOf<F, Parts = unknown> = F extends { kind: "duration" } ? Duration
  : F extends { kind: "weights" } ? Readonly<Record<string, number>>
  : F extends { kind: "durations" } ? readonly Duration[]
  : F extends { kind: keyof Parts; template: true } ? () => Parts[F["kind"]]
  : ValueOf<F, Parts>;

/** Type of the options as written in a config. */
export type OptionsInput<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InputOf<F[K], Parts> }>;

/** Type of the options as passed to a `create…` function: with parts in place of configs. */
export type OptionsInCode<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InCodeOf<F[K], Parts> }>;

/** Object type with the given types of options. Options that are not required may be missing or `undefined`. */
export type ByNeed<F, Types extends Record<keyof F, unknown>> =
  & { -readonly [K in keyof F as F[K] extends OptionalField ? never : K]: Types[K] }
  & { -readonly [K in keyof F as F[K] extends OptionalField ? K : never]?: Types[K] | undefined };

/** Declaration that makes an option optional. */
export type OptionalField = { readonly default: unknown } | { readonly required: false };

/** Type of the options as passed to `create`: checked, with durations in milliseconds and parts built. */
export type OptionsOf<F, Parts = unknown> = {
  readonly [K in keyof F]: F[K] extends { default: unknown } ? ValueOf<F[K], Parts>
    : F[K] extends { required: false } ? ValueOf<F[K], Parts> | undefined
    : ValueOf<F[K], Parts>;
};

/** Members of {@linkcode OptionsOf} that are plain data. They are known before parts are built. */
export type PlainOptionsOf<F> = OptionsOf<{ [K in keyof F as F[K] extends PlainField ? K : never]: F[K] }>;
