/**
 * The kinds of option that a limiter, or another part that configs describe, can declare.
 *
 * A declaration is plain data, and everything else comes from it: the TypeScript types of the options
 * ({@linkcode OptionsInput}, {@linkcode OptionsOf}), their validation, and their JSON Schema.
 *
 * @module
 */

import type { Duration } from "../lib/base/duration.ts";

/** What every kind of option has. */
export interface FieldBase {
  /** What the option does, in a sentence; shown by editors. */
  readonly description: string;
  /**
   * Whether the option has to be given. An option with a `default` never has to.
   *
   * @default {true}
   */
  readonly required?: boolean | undefined;
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
  readonly min?: number | undefined;
  /** The longest allowed, in milliseconds. */
  readonly max?: number | undefined;
  /** Used when the option is left out. */
  readonly default?: Duration;
}

/** A whole number. */
export interface IntegerField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "integer";
  /** The smallest allowed. */
  readonly min?: number | undefined;
  /** The largest allowed. */
  readonly max?: number | undefined;
  /** Used when the option is left out. */
  readonly default?: number;
}

/** A number. `NaN` is never allowed, and `Infinity` only where the declaration says so. */
export interface NumberField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "number";
  /** The smallest allowed. */
  readonly min?: number | undefined;
  /** The largest allowed. */
  readonly max?: number | undefined;
  /**
   * Whether `Infinity` is allowed, where no `max` forbids it. JSON cannot say it; code, YAML and TOML can.
   *
   * @default {false}
   */
  readonly infinite?: boolean | undefined;
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
  readonly minLength?: number | undefined;
  /** The greatest number of characters. */
  readonly maxLength?: number | undefined;
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

/** The declaration of an option that is plain data. */
export type PlainField = DurationField | IntegerField | NumberField | BooleanField | StringField | EnumField;

/**
 * An option that is a part itself, such as a limiter: given as its config, or as the name of one in the document, and
 * handed to `create` built. `Word` is what such a part is called: `"limiter"`.
 */
export interface PartField<Word extends string> extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: Word;
}

/** An option that is a list of parts, such as `"limiters"`. */
export interface PartsField<Word extends string> extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: `${Word}s`;
  /** The least number of them. */
  readonly minItems?: number | undefined;
  /** Used when the option is left out. */
  readonly default?: readonly [];
}

/** The declaration of one option. `Word` says which parts it may be, beside plain data. */
export type Field<Word extends string = never> = PlainField | PartField<Word> | PartsField<Word>;

/** The declarations of the options, by name. */
export type Fields<Word extends string = never> = { readonly [option: string]: Field<Word> };

/** The type of one option as `create` gets it. `Parts` has the type of a part that is built, by its kind. */
export type ValueOf<F, Parts = unknown> = F extends { kind: "duration" | "integer" | "number" } ? number
  : F extends { kind: "boolean" } ? boolean
  : F extends { kind: "string" } ? string
  : F extends { kind: "enum"; values: readonly (infer V)[] } ? V
  : F extends { kind: keyof Parts } ? Parts[F["kind"]]
  : F extends { kind: `${infer Word extends keyof Parts & string}s` } ? readonly Parts[Word][]
  : never;

/** The type of one option as one writes it. `Parts` has the type of what stands for a part, by its kind. */
export type InputOf<F, Parts = unknown> = F extends { kind: "duration" } ? Duration : ValueOf<F, Parts>;

/** The type of the options as one writes them: in a config or in the call of a `create…` function. */
export type OptionsInput<F, Parts = unknown> =
  & { -readonly [K in keyof F as F[K] extends OptionalField ? never : K]: InputOf<F[K], Parts> }
  & { -readonly [K in keyof F as F[K] extends OptionalField ? K : never]?: InputOf<F[K], Parts> | undefined };

/** What tells an option that may be left out. */
export type OptionalField = { readonly default: unknown } | { readonly required: false };

/** The type of the options as `create` gets them: checked, durations in milliseconds, parts built. */
export type OptionsOf<F, Parts = unknown> = {
  readonly [K in keyof F]: F[K] extends { default: unknown } ? ValueOf<F[K], Parts>
    : F[K] extends { required: false } ? ValueOf<F[K], Parts> | undefined
    : ValueOf<F[K], Parts>;
};

/** The part of {@linkcode OptionsOf} that is plain data, and so is known before anything is built. */
export type PlainOptionsOf<F> = OptionsOf<{ [K in keyof F as F[K] extends PlainField ? K : never]: F[K] }>;
