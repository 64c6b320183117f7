import { inspect, invalidArgument } from "../lib/base/errors.ts";
import type { BuildContext } from "./context.ts";
import type { Field, Fields, OptionsOf, PlainField, PlainOptionsOf } from "./fields.ts";
import { findPartKind, type PartKind } from "./kind.ts";
import { offencesOf, readPlainValue } from "./plain_values.ts";

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
   * Changes a part that `create` made, for a config that is reloaded: from then on it does what one made of these options
   * would do, and keeps what it has counted. Where there is none, a part whose options change is made anew. If it throws,
   * nothing of the reload is in force; so it has to check before it changes anything. To undo a change that another part
   * refused after it, it is called with the options of before, which it has to take.
   */
  update?:
    | { update(part: Made, options: OptionsOf<F, Record<Word, Part>>, context: BuildContext): void }["update"]
    | undefined; // the type of a method, so that the definition of a limiter is the definition of a part
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
      throw new TypeError(`Cannot ${action} ${inspect(type)} as 'type' names the ${kind.word} and is no option`);
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
