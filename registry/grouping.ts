import { requireOptions } from "../lib/base/arguments.ts";
import { argumentError, inspect, invalidArgument } from "../lib/base/errors.ts";
import { UNDEFINED_KEY } from "../lib/base/keys.ts";
import type { PartContext, PartDefinition } from "./definition.ts";
import type { Fields, OptionsOf } from "./fields.ts";
import { actionOf, createInCode, type KindsOf } from "./options_in_code.ts";

/** Returns the group of an item. Groups are compared in the same way as the keys of a `Map`. */
export type GroupOf = (item: never, key: unknown) => unknown;

/** Option that defines groups in a document, because a document can't contain a function. */
export type SeparatorField = { readonly kind: "string"; readonly minLength: 1; readonly description: string };

/** Returns the text before the first separator in a key, or the whole key if it has no separator. */
export function groupOfKey(key: string, separator: string): string {
  const end = key.indexOf(separator);
  return end === -1 ? key : key.slice(0, end);
}

/**
 * Returns a function that groups items by the text before the first separator in the key, or by the whole key if it has
 * no separator. The returned function throws a `TypeError` if the key is not a string.
 */
export function groupBySeparator(separator: string): GroupOf {
  return (_, key) => {
    if (typeof key !== "string") {
      throw argumentError(
        "find group of item",
        `its key must be a string to have a 'separator', got ${inspect(key === UNDEFINED_KEY ? undefined : key)}`,
      );
    }
    return groupOfKey(key, separator);
  };
}

/**
 * Creates a part that groups items, from options given in code. Code may pass the function `groupOf` in place of
 * `separator`.
 *
 * @param create Creates the part if `groupOf` is given.
 */
export function createGroupedInCode<Word extends string, Part, F extends Fields<Word> & { separator: SeparatorField }>(
  word: Word,
  definition: PartDefinition<Word, Part, string, F>,
  kinds: KindsOf<F>,
  input: object,
  create: (
    groupOf: GroupOf,
    options: OptionsOf<Omit<F, "separator">, Record<Word, Part>>,
    context: PartContext,
  ) => Part,
): Part {
  const action = actionOf(word, definition);
  requireOptions(action, input, ["groupOf", ...Object.keys(definition.options)]);
  const { groupOf, ...given } = input as { groupOf?: unknown; separator?: unknown };
  if ((groupOf === undefined) === (given.separator === undefined)) {
    throw argumentError(action, "one of 'groupOf' and 'separator' must be given, and not both");
  }
  if (groupOf === undefined) return createInCode(word, definition, kinds, given);
  if (typeof groupOf !== "function") throw invalidArgument(action, "groupOf", "must be a function", groupOf);
  const { separator: _, ...options } = definition.options;
  const grouped = {
    ...definition,
    options: options as Fields<Word>,
    create: (options: object, context: PartContext) =>
      create((item) => groupOf(item), options as OptionsOf<Omit<F, "separator">, Record<Word, Part>>, context),
  } as PartDefinition<Word, Part>;
  return createInCode(word, grouped, kinds as KindsOf<Fields<Word>>, given);
}
