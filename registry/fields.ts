/**
 * Kinds of option that a limiter or another part of a config can declare.
 *
 * A declaration is plain data. The TypeScript types of the options ({@linkcode OptionsInput}, {@linkcode OptionsOf}),
 * their validation, and their JSON Schema follow from it.
 *
 * @module
 */

import type { Duration } from "../lib/base/duration.ts";

/** Members common to all kinds of option. */
export interface FieldBase {
  /** Effect of the option, in a sentence. Editors show it. */
  readonly description: string;
  /**
   * Whether the option is required. An option with a `default` never is.
   *
   * @default {true}
   */
  readonly required?: boolean | undefined;
  /**
   * Whether the part loses its counts when a reload changes the option, although its definition has `update`. `reload`
   * then reports the change with `startsAfresh`.
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
   * Whether the duration may be unlimited: `Infinity`, or the string `"unlimited"`, because JSON has no infinity.
   * Passed to `create` as `Infinity`. Has no effect with `max`.
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

/** A number. `NaN` is never allowed. `Infinity` is allowed only if declared. */
export interface NumberField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "number";
  /** Smallest allowed value. By default, there is no limit. */
  readonly min?: number | undefined;
  /** Largest allowed value. By default, there is no limit. */
  readonly max?: number | undefined;
  /**
   * Whether `Infinity` is allowed. Has no effect with `max`. JSON can't express it; code, YAML and TOML can.
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

/** An object of numbers from 0.001 to 1,000 by name. Passed to `create` as a `Map`. */
export interface WeightsField extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: "weights";
  /** Value used if the option is omitted. */
  readonly default?: Readonly<Record<string, number>>;
}

/** Declaration of an option that is plain data. */
export type PlainField =
  | DurationField
  | IntegerField
  | NumberField
  | BooleanField
  | StringField
  | EnumField
  | WeightsField;

/**
 * An option that is itself a part, such as a limiter. It is given as the part's config, or as the name of a part in the
 * document, and passed to `create` as the built part. `Word` is the kind of part, such as `"limiter"`.
 */
export interface PartField<Word extends string> extends FieldBase {
  /** Distinguishes the kinds. */
  readonly kind: Word;
  /**
   * Whether the option is a template, from which any number of parts are built, such as one for each group of items.
   * `create` gets a function that builds a new part with each call; in code, the option is such a function. In a
   * document, it must be a config, not a name, because a name stands for one shared part. Names inside that config are
   * allowed, and those parts are shared.
   *
   * The config is checked once, when it is read. One part is then built and discarded, so that a part that can't be
   * built is reported at once, not with the first group.
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

/** Declaration of one option. `Word` is the kind of part that it may be, besides plain data. */
export type Field<Word extends string = never> = PlainField | PartField<Word> | PartsField<Word>;

/** Declarations of options, by name. */
export type Fields<Word extends string = never> = { readonly [option: string]: Field<Word> };

/** A function that creates a new part with each call. */
export interface Template<Part> {
  /** Creates a part. */
  (): Part;
  /**
   * Updates a part that an earlier template of the same option created, so that it behaves like a new one, and returns
   * it. May return a replacement instead. If it throws, the part is unchanged. Templates of a config that is reloaded
   * have this method. For functions given in code, it is optional.
   */
  update?(part: Part): Part;
  /** Whether `update` never throws, so that a part can be updated at its next use. */
  readonly neverRefuses?: boolean;
}

/** Type of one option as passed to `create`. `Parts` has the type of a built part, by its kind. */
export type ValueOf<F, Parts = unknown> = F extends { kind: "duration" | "integer" | "number" } ? number
  : F extends { kind: "boolean" } ? boolean
  : F extends { kind: "string" } ? string
  : F extends { kind: "weights" } ? ReadonlyMap<string, number>
  : F extends { kind: "enum"; values: readonly (infer V)[] } ? V
  : F extends { kind: keyof Parts; template: true } ? Template<Parts[F["kind"]]>
  : F extends { kind: keyof Parts } ? Parts[F["kind"]]
  : F extends { kind: `${infer Word extends keyof Parts & string}s` } ? readonly Parts[Word][]
  : never;

/** Type of one option as written in a config. `Parts` has the type of a nested part's config, by its kind. */
export type InputOf<F, Parts = unknown> = F extends { kind: keyof Parts; template: true }
  ? Exclude<Parts[F["kind"]], string> // not a name
  : InCodeOf<F, Parts>;

/** Type of one option as given in code. `Parts` has the type of a part, by its kind. */
export type InCodeOf<F, Parts = unknown> = F extends { kind: "duration" } ? Duration
  : F extends { kind: "weights" } ? Readonly<Record<string, number>>
  : F extends { kind: keyof Parts; template: true } ? () => Parts[F["kind"]]
  : ValueOf<F, Parts>;

/** Type of the options as written in a config. */
export type OptionsInput<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InputOf<F[K], Parts> }>;

/** Type of the options as passed to a `create…` function: with parts in place of configs. */
export type OptionsInCode<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InCodeOf<F[K], Parts> }>;

/** Types of options, in which optional ones may be missing or `undefined`. */
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

/** Members of {@linkcode OptionsOf} that are plain data, and so are known before parts are built. */
export type PlainOptionsOf<F> = OptionsOf<{ [K in keyof F as F[K] extends PlainField ? K : never]: F[K] }>;
