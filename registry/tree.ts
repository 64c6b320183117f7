/**
 * The tree that reading makes of a config: plain data that was checked. Building walks it, once or many times, and
 * afterwards it says which part came from which place. Two trees are compared to find what a reload changes.
 *
 * @module
 */

import type { PartDefinition, PartKind } from "./definition.ts";

/** Options that were read. */
export interface OptionsTree {
  /** The options that are plain data, durations in milliseconds and defaults filled in. */
  readonly plain: Readonly<Record<string, unknown>>;
  /** The options that are parts, or lists of them. */
  readonly parts: Readonly<Record<string, PartTree | readonly PartTree[]>>;
  /** The options that are templates, of which parts are built again and again. */
  readonly templates: Readonly<Record<string, PartNode>>;
}

/** A part that is described where it is used. */
export interface PartNode<Part = unknown> extends OptionsTree {
  readonly kind: PartKind<string, Part>;
  /** The definition of its type. The registry may know another one later, or none. */
  readonly definition: PartDefinition<string, Part>;
  /** Where it stands: a JSON Pointer. */
  readonly path: string;
}

/** The name of a part that is described elsewhere in the document, and shared. */
export interface NameNode {
  readonly kind: PartKind;
  readonly name: string;
  /** Where the name stands: a JSON Pointer. */
  readonly path: string;
}

/** A part of a config. */
export type PartTree<Part = unknown> = PartNode<Part> | NameNode;

/** Tells names from parts that are described in place. */
export function isName(tree: PartTree): tree is NameNode {
  return "name" in tree;
}

/** Goes through a tree, if there is one: every part and every name in it, the outermost first. */
export function* nodesOf(tree: PartTree | undefined): Generator<PartTree> {
  if (tree === undefined) return;
  yield tree;
  if (isName(tree)) return;
  for (const part of Object.values({ ...tree.parts, ...tree.templates }).flat()) yield* nodesOf(part);
}

/** An option that is a part, or a list of them. */
type Parts = PartTree | readonly PartTree[];

/** Reports whether two values of an option that is plain data are the same. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (!(one instanceof Map && other instanceof Map)) return one === other;
  return one.size === other.size && [...one].every(([name, weight]) => other.get(name) === weight);
}

/**
 * Reports whether two trees at the same place say the same, however it is written: `"5ms"` or `"0.005s"`. A part made
 * of one would be like a part made of the other.
 */
export function isSameTree(one: PartTree, other: PartTree): boolean {
  if (isName(one) || isName(other)) return isName(one) && isName(other) && one.name === other.name;
  return one.definition === other.definition && isSameOptions(one, other, isSameTree);
}

/** Reports whether options are the same. `isSamePart` compares the parts among them. */
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
