/**
 * What reading makes of a config: a tree of plain data that was checked. Building walks it, once or many times, and
 * afterwards it says which part came from which place.
 *
 * @module
 */

import type { PartDefinition } from "./definition.ts";
import type { PartKind } from "./kind.ts";

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
