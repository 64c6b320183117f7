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
  /**
   * Whether the part loses what it has counted when a reload changes the option, although its definition has `update`.
   * `reload` then reports the change with `startsAfresh`.
   */
  readonly startsAfresh?: true | undefined;
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
  /**
   * Whether there may be no end to it, where no `max` forbids that: `Infinity`, or the text `"unlimited"`, as JSON has
   * no infinity. Handed to `create` as `Infinity`.
   *
   * @default {false}
   */
  readonly infinite?: boolean | undefined;
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

/** Numbers from 0.001 to 1,000 by name: an object. Handed to `create` as a map. */
export interface WeightsField extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: "weights";
  /** Used when the option is left out. */
  readonly default?: Readonly<Record<string, number>>;
}

/** The declaration of an option that is plain data. */
export type PlainField =
  | DurationField
  | IntegerField
  | NumberField
  | BooleanField
  | StringField
  | EnumField
  | WeightsField;

/**
 * An option that is a part itself, such as a limiter: given as its config, or as the name of one in the document, and
 * handed to `create` built. `Word` is what such a part is called: `"limiter"`.
 */
export interface PartField<Word extends string> extends FieldBase {
  /** Tells the kinds apart. */
  readonly kind: Word;
  /**
   * Whether the option is a template, of which any number of parts are built, such as one for each group of items.
   * `create` is given a function that builds a new part each time it is called, and in code the option is such a
   * function itself. In a document it is a config and no name, as a name stands for one part that is shared; names
   * deeper inside are shared as always.
   *
   * The config is checked once, when it is read. One part is built of it then and thrown away, so that what cannot be
   * built is known at once and not with the first group.
   */
  readonly template?: true | undefined;
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

/** Makes parts, a new one each time it is called. */
export interface Template<Part> {
  /** Makes a part. */
  (): Part;
  /**
   * Makes a part that an earlier template of the same option made do what a new one would do, and gives it; or gives
   * one in its place. Where it throws, the part has not changed. Templates of a config that is reloaded have it;
   * functions that are given in code need not.
   */
  update?(part: Part): Part;
  /** Whether `update` never throws, so that a part may be updated when it is used next. By default it may. */
  readonly neverRefuses?: boolean;
}

/** The type of one option as `create` gets it. `Parts` has the type of a part that is built, by its kind. */
export type ValueOf<F, Parts = unknown> = F extends { kind: "duration" | "integer" | "number" } ? number
  : F extends { kind: "boolean" } ? boolean
  : F extends { kind: "string" } ? string
  : F extends { kind: "weights" } ? ReadonlyMap<string, number>
  : F extends { kind: "enum"; values: readonly (infer V)[] } ? V
  : F extends { kind: keyof Parts; template: true } ? Template<Parts[F["kind"]]>
  : F extends { kind: keyof Parts } ? Parts[F["kind"]]
  : F extends { kind: `${infer Word extends keyof Parts & string}s` } ? readonly Parts[Word][]
  : never;

/** The type of one option as one writes it in a config. `Parts` has the type of what stands for a part, by its kind. */
export type InputOf<F, Parts = unknown> = F extends { kind: keyof Parts; template: true }
  ? Exclude<Parts[F["kind"]], string> // no name
  : InCodeOf<F, Parts>;

/** The type of one option as one gives it in code. `Parts` has the type of a part, by its kind. */
export type InCodeOf<F, Parts = unknown> = F extends { kind: "duration" } ? Duration
  : F extends { kind: "weights" } ? Readonly<Record<string, number>>
  : F extends { kind: keyof Parts; template: true } ? () => Parts[F["kind"]]
  : ValueOf<F, Parts>;

/** The type of the options as one writes them in a config. */
export type OptionsInput<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InputOf<F[K], Parts> }>;

/**
 * The type of the options as one gives them in the call of a `create…` function: with parts where a config has configs.
 */
export type OptionsInCode<F, Parts = unknown> = ByNeed<F, { [K in keyof F]: InCodeOf<F[K], Parts> }>;

/** These types of options, of which those that may be left out may be undefined too. */
export type ByNeed<F, Types extends Record<keyof F, unknown>> =
  & { -readonly [K in keyof F as F[K] extends OptionalField ? never : K]: Types[K] }
  & { -readonly [K in keyof F as F[K] extends OptionalField ? K : never]?: Types[K] | undefined };

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
