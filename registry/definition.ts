/**
 * Definitions of parts: the kinds of part, the types of each kind, and the context in which parts are built.
 *
 * @module
 */

import { A_CLOCK, A_FUNCTION, requireRules } from "../lib/base/arguments.ts";
import { type Clock, systemClock } from "../lib/base/clock.ts";
import { argumentError, inspect, invalidArgument } from "../lib/base/errors.ts";
import type { Random } from "../lib/base/random.ts";
import type { Field, Fields, OptionsOf, PlainField, PlainOptionsOf } from "./fields.ts";
import { kindOf, offencesOf, PLAIN_KINDS } from "./plain_values.ts";

/**
 * A kind of part of a config, such as limiters. The code for definitions, reading, building and schemas is shared by
 * all kinds, and uses these members.
 */
export interface PartKind<Word extends string = string, Part = unknown> {
  /**
   * Name of the kind in configs and schemas. An option whose `kind` is this word takes a part. An option whose `kind`
   * is this word followed by an `s` takes a list of parts.
   */
  readonly word: Word;
  /** Name of the kind in messages about options given in code, such as "rate limiter". */
  readonly name: string;
  /** Whether parts of this kind can have names in a document. If so, an option accepts a name in place of a config. */
  readonly hasNames: boolean;
  /** Name of the type, if this kind of part has only one type. In that case, configs have no `type`. */
  readonly onlyType?: string;
  /** Type of a config that has no `type`. By default, configs must have one. */
  readonly defaultType?: string;
  /** Options that parts of this kind don't have, by name, with a phrase that says where they are. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Reports whether a value is a part of this kind. */
  is(value: unknown): value is Part;
  /** Prepares a part that a definition has created, and returns it. */
  prepare?(part: Part): Part;
}

/** Context in which parts are built. */
export interface BuildContext {
  /**
   * The clock.
   *
   * @default {systemClock}
   */
  readonly clock?: Clock | undefined;
  /**
   * Returns random numbers from 0 to 1.
   *
   * @default {Math.random}
   */
  readonly random?: Random | undefined;
}

/** Context in which the functions of a definition are called: a {@linkcode BuildContext} with its defaults. */
export type PartContext = { readonly [Member in keyof BuildContext]-?: NonNullable<BuildContext[Member]> };

/** Returns a context with its defaults. */
export function partContextOf({ clock = systemClock, random = Math.random }: BuildContext): PartContext {
  return { clock, random };
}

/** Violation of a rule that involves several options. */
export interface BrokenRule {
  /** Name of the option that breaks the rule. */
  readonly option: string;
  /** The rule, as a phrase: `"must not be less than 'baseDelay'"`. */
  readonly rule: string;
}

/**
 * Definition of a type of part: its name, its options, and its `create`. `Word` is the kind of part, `Part` is the type
 * of all parts of that kind, and `Made` is the type of the parts that this definition creates.
 */
export interface PartDefinition<
  Word extends string,
  Part,
  Type extends string = string,
  F extends Fields<Word> = Fields<Word>,
  Made extends Part = Part,
> {
  /** Value of `type` in a config. */
  readonly type: Type;
  /** Effect of the part, in a sentence. Editors show this text. */
  readonly description: string;
  /** Declarations of the part's options. */
  readonly options: F;
  /**
   * Checks rules that involve several options. Returns a broken rule, or `undefined` if there is none. Called only if
   * each option by itself is valid.
   */
  check?: ((options: PlainOptionsOf<F>) => BrokenRule | undefined) | undefined;
  /**
   * Creates a part from checked options. An error that `create` throws is reported with the location of the part in the
   * config.
   */
  create(options: OptionsOf<F, Record<Word, Part>>, context: PartContext): Made;
  /**
   * When a config is reloaded, updates a part that `create` returned. The part then behaves like one created from the
   * new options, but keeps its counts. Without `update`, a part whose options change is created again.
   *
   * If `update` throws, the whole reload is rejected, so `update` must check the options before it changes the part. If
   * another part refuses its update, `update` is called again with the previous options to undo the change. `update`
   * must accept the previous options.
   */
  update?:
    | { update(part: Made, options: OptionsOf<F, Record<Word, Part>>, context: PartContext): void }["update"]
    | undefined; // a method type, so that a limiter's definition is assignable to a part's definition
}

/** Kind of the parts that an option takes, and whether the option takes a list of them. */
interface PartOption<Kind extends PartKind> {
  readonly kind: Kind;
  readonly isList: boolean;
}

/** Returns the kind of part that an option with this `kind` takes; `undefined` for an option that is plain data. */
export function findPartKind<Kind extends PartKind>(
  kinds: readonly Kind[],
  fieldKind: string,
): PartOption<Kind> | undefined {
  for (const kind of kinds) {
    if (fieldKind === kind.word) return { kind, isList: false };
    if (fieldKind === `${kind.word}s`) return { kind, isList: true };
  }
  return undefined;
}

/** Throws if a context has an unknown member, or a member of the wrong type. */
export function requireContext(action: string, context: BuildContext): void {
  requireRules(action, context, { clock: A_CLOCK, random: A_FUNCTION });
}

/** Throws if a value is not a valid definition for the given kind of part. */
export function requireDefinition(kind: PartKind, definition: unknown): void {
  const action = `define ${kind.word}`;
  if (!isObject(definition)) throw invalidArgument(action, "definition", "must be an object", definition);
  const { type, description, options, create, update } = definition as Record<string, unknown>;
  if (typeof type !== "string" || type === "") {
    throw invalidArgument(action, "type", "must be a non-empty string", type);
  }
  if (typeof description !== "string") throw invalidArgument(action, "description", "must be a string", description);
  if (typeof create !== "function") throw invalidArgument(action, "create", "must be a function", create);
  if (update !== undefined && typeof update !== "function") {
    throw invalidArgument(action, "update", "must be a function, or left out", update);
  }
  if (!isObject(options)) throw invalidArgument(action, "options", "must be an object", options);
  for (const [option, field] of Object.entries(options)) {
    if (option === "type") {
      throw argumentError(`${action} ${inspect(type)}`, `'type' names the ${kind.word} and is no option`);
    }
    requireField(kind, `${action} ${inspect(type)}`, option, field);
  }
}

function requireField(partKind: PartKind, action: string, option: string, field: Field<string>): void {
  const kind: unknown = isObject(field) ? field.kind : field;
  const kinds: readonly unknown[] = [...Object.keys(PLAIN_KINDS), partKind.word, `${partKind.word}s`];
  if (!isObject(field) || !kinds.includes(kind)) {
    throw invalidArgument(action, option, `must have a kind of ${kinds.join(", ")}`, kind);
  }
  if (typeof field.description !== "string") {
    throw invalidArgument(action, `${option}.description`, "must be a string", field.description);
  }
  const template: unknown = (field as { template?: unknown }).template;
  if (template !== undefined && (template !== true || field.kind !== partKind.word)) {
    const rule = field.kind === partKind.word
      ? "must be true, or left out"
      : `is for an option that is a ${partKind.word}`;
    throw invalidArgument(action, `${option}.template`, rule, template);
  }
  if (field.kind === "enum" && !Array.isArray((field as { values?: unknown }).values)) {
    throw invalidArgument(
      action,
      `${option}.values`,
      "must be a list of strings",
      (field as { values?: unknown }).values,
    );
  }
  if (Object.hasOwn(field, "default")) requireDefault(partKind, action, `${option}.default`, field);
}

function requireDefault(partKind: PartKind, action: string, name: string, field: Field<string>): void {
  const value: unknown = (field as { default?: unknown }).default;
  const parts = findPartKind([partKind], field.kind);
  if (parts === undefined) {
    const plain = field as PlainField;
    const kind = kindOf(plain);
    if (kind.read(plain, value) !== undefined) return;
    const [offence] = offencesOf(kind, plain, name, value);
    throw invalidArgument(action, offence.option, offence.rule, offence.value);
  } else if (!parts.isList) {
    throw invalidArgument(action, name, `must be left out, as a ${partKind.word} has no default`, value);
  } else if (!Array.isArray(value) || value.length > 0) {
    throw invalidArgument(action, name, `must be an empty list, as a ${partKind.word} has no default`, value);
  }
}

function isObject<V>(value: V): value is V & object {
  return typeof value === "object" && value !== null;
}
