/**
 * Tree of a checked config, as plain data. Parts can be built from a tree any number of times. A tree records the JSON
 * Pointer of each part. Comparing two trees yields the changes that a reload makes.
 *
 * @module
 */

import { isPlainObject } from "../lib/base/objects.ts";
import type { PartDefinition, PartKind } from "./definition.ts";

/** Options of a part or a queue, after they have been read and checked. */
export interface OptionsTree {
  /** Options that are plain data, with durations in milliseconds and defaults filled in. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** Options that are parts or lists of parts. */
  readonly parts: Readonly<Record<string, PartTree | readonly PartTree[]>>;
  /** Options that are templates, from which parts are built repeatedly. */
  readonly templates: Readonly<Record<string, PartNode>>;
}

/** A part that is defined where it is used. */
export interface PartNode<Part = unknown> extends OptionsTree {
  /** Kind of the part. */
  readonly kind: PartKind<string, Part>;
  /** Definition of the part's type. The registry may later have another definition of this type, or none. */
  readonly definition: PartDefinition<string, Part>;
  /** JSON Pointer to the part. */
  readonly path: string;
}

/** Name of a part that is defined elsewhere in the document and shared. */
export interface NameNode {
  /** Kind of the part. */
  readonly kind: PartKind;
  /** Name of the part. */
  readonly name: string;
  /** JSON Pointer to the name. */
  readonly path: string;
}

/** A part of a config. */
export type PartTree<Part = unknown> = PartNode<Part> | NameNode;

/** Reports whether a part is given as a name, rather than defined in place. */
export function isName(tree: PartTree): tree is NameNode {
  return "name" in tree;
}

/** Iterates over every part and every name in a tree, outer parts before inner parts. Does nothing for `undefined`. */
export function* nodesOf(tree: PartTree | undefined): Generator<PartTree> {
  if (tree === undefined) return;
  yield tree;
  if (isName(tree)) return;
  for (const part of Object.values({ ...tree.parts, ...tree.templates }).flat()) yield* nodesOf(part);
}

/** An option that is a part or a list of parts. */
type Parts = PartTree | readonly PartTree[];

/** Reports whether two values of a plain option are equal. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, i) => item === other[i]);
  }
  if (isPlainObject(one) && isPlainObject(other)) return isSameRecord(one, other, (a, b) => a === b);
  if (!(one instanceof Map && other instanceof Map)) return one === other;
  return one.size === other.size && [...one].every(([name, weight]) => other.get(name) === weight);
}

/**
 * Reports whether two trees for the same place in two configs are equal, even if the two configs are written
 * differently, such as `"5ms"` and `"0.005s"`. Parts built from equal trees behave alike.
 */
export function isSameTree(one: PartTree, other: PartTree): boolean {
  if (isName(one) || isName(other)) return isName(one) && isName(other) && one.name === other.name;
  return one.definition === other.definition && isSameOptions(one, other, isSameTree);
}

/** Reports whether two sets of options are equal. `isSamePart` compares the options that are parts. */
export function isSameOptions(
  one: OptionsTree,
  other: OptionsTree,
  isSamePart: (one: PartTree, other: PartTree) => boolean,
): boolean {
  const isSameList = (one: Parts, other: Parts) => {
    const [some, others] = [[one].flat(), [other].flat()];
    return some.length === others.length && some.every((part, i) => isSamePart(part, others[i]!));
  };
  return isSameRecord(one.plain, other.plain, isSameValue) &&
    isSameRecord(one.parts, other.parts, isSameList) &&
    isSameRecord(one.templates, other.templates, isSameTree);
}

function isSameRecord<V>(
  one: Readonly<Record<string, V>>,
  other: Readonly<Record<string, V>>,
  isSame: (one: V, other: V) => boolean,
): boolean {
  const options = Object.keys(one);
  return options.length === Object.keys(other).length &&
    options.every((option) => Object.hasOwn(other, option) && isSame(one[option]!, other[option]!));
}
