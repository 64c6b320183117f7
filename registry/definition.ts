/**
 * Definitions of parts: the kinds of part, the types of each kind, and the context that parts are built in.
 *
 * @module
 */

import { A_CLOCK, A_FUNCTION, requireRules } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import { argumentError, inspect, invalidArgument } from "../lib/base/errors.ts";
import type { Random } from "../lib/base/random.ts";
import type { Field, Fields, OptionsOf, PlainField, PlainOptionsOf } from "./fields.ts";
import { offencesOf, readPlainValue } from "./plain_values.ts";

/**
 * A kind of part that a config can describe, such as limiters. Definitions, reading, building and schemas are the same
 * for all kinds; this is what they have to know of each.
 */
export interface PartKind<Word extends string = string, Part = unknown> {
  /**
   * What one such part is called in configs, in schemas, and as the kind of an option that takes one. An option whose
   * kind is this word with an `s` takes a list of them.
   */
  readonly word: Word;
  /** Its name in messages about code, such as "rate limiter". */
  readonly name: string;
  /** Whether a document gives names to such parts, so that an option can take a name in place of a config. */
  readonly hasNames: boolean;
  /** The type of all such parts, where there is only one: configs do not say it then. */
  readonly onlyType?: string;
  /** Whether a value is such a part. */
  is(value: unknown): value is Part;
}

/** What parts are built with beside their options. */
export interface BuildContext {
  /**
   * Where time comes from.
   *
   * @default {systemClock}
   */
  readonly clock?: Clock | undefined;
  /**
   * Where random numbers come from: from 0 up to 1.
   *
   * @default {Math.random}
   */
  readonly random?: Random | undefined;
}

/** A rule between options that does not hold. */
export interface BrokenRule {
  /** The option to blame. */
  readonly option: string;
  /** What it must be: `"must not be less than 'baseDelay'"`. */
  readonly rule: string;
}

/**
 * A type of part: what it is called, which options it takes, and how it is made of them. `Word` is what such a part is
 * called, `Part` is the type of every such part, and `Made` that of those which this definition makes.
 */
export interface PartDefinition<
  Word extends string,
  Part,
  Type extends string = string,
  F extends Fields<Word> = Fields<Word>,
  Made extends Part = Part,
> {
  /** The value of `type` in a config. */
  readonly type: Type;
  /** What the part does, in a sentence; shown by editors. */
  readonly description: string;
  /** The options it takes. */
  readonly options: F;
  /** Says which rule between options is broken, if any. Each option by itself was checked before. */
  check?: ((options: PlainOptionsOf<F>) => BrokenRule | undefined) | undefined;
  /** Makes the part of options that were checked. What it throws is reported with its place in the config. */
  create(options: OptionsOf<F, Record<Word, Part>>, context: BuildContext): Made;
  /**
   * Changes a part that `create` made, for a config that is reloaded: from then on it does what one made of these
   * options would do, and keeps what it has counted. Where there is none, a part whose options change is made anew. If
   * it throws, nothing of the reload is in force; so it has to check before it changes anything. To undo a change that
   * another part refused after it, it is called with the options of before, which it has to take.
   */
  update?:
    | { update(part: Made, options: OptionsOf<F, Record<Word, Part>>, context: BuildContext): void }["update"]
    | undefined; // the type of a method, so that the definition of a limiter is the definition of a part
}

/** What a field says of the parts that its option takes. */
interface PartOption<Kind extends PartKind> {
  readonly kind: Kind;
  readonly isList: boolean;
}

/** Finds the kind of part that a field names; `undefined` for an option that is plain data. */
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

/** Refuses a context with a member that is unknown or of the wrong type. */
export function requireContext(action: string, context: BuildContext): void {
  requireRules(action, context, { clock: A_CLOCK, random: A_FUNCTION });
}

const PLAIN_KINDS: readonly PlainField["kind"][] = [
  "duration",
  "integer",
  "number",
  "boolean",
  "string",
  "enum",
  "weights",
];

/** Refuses what is no definition of a type of this kind of part. */
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
  const kinds: readonly unknown[] = [...PLAIN_KINDS, partKind.word, `${partKind.word}s`];
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
    if (readPlainValue(plain, value) !== undefined) return;
    const [offence] = offencesOf(plain, name, value);
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
