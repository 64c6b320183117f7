/**
 * Functions that build parts, such as limiters, from trees (see `tree.ts`). Parts of an earlier tree are kept where
 * possible: if a part has the same place and the same definition as before, it stays the same object, and is updated if
 * its options changed.
 *
 * @module
 */

import { ConfigError, inspect } from "../lib/base/errors.ts";
import type { Template } from "./fields.ts";
import {
  isName,
  isSameOptions,
  isSameTree,
  type NameNode,
  type OptionsTree,
  type PartNode,
  type PartTree,
} from "./tree.ts";
import { carryOut, mayRefuse, noteReplaced, replacedBy, type Update, type Updating } from "./updates.ts";

/** Context for building parts from a tree. */
export interface Building extends Updating {
  /**
   * Returns the part with the given name, which is already built. Absent if there is no document, because only
   * documents contain names.
   */
  named?(node: NameNode): unknown;
  /** Whether each template has already been tested by building a part from it. */
  readonly hasTried?: boolean;
}

/** A part, and the node from which it was built or last updated. */
interface Made {
  readonly node: PartNode;
  readonly part: unknown;
}

/** Named parts of the document that is being built, and of the one before; `undefined` for all other parts. */
interface Names {
  now(node: NameNode): unknown;
  before(node: NameNode): unknown;
}

/** Parts built from trees, by JSON Pointer. Excludes templates and the parts inside them. */
export type MadeParts = ReadonlyMap<string, Made>;

const NONE: MadeParts = /* @__PURE__ */ new Map();

/** Builds a part, after its inner parts. */
export function buildPart<Part>(tree: PartTree<Part>, building: Building): Part {
  return new Builder(building).part(tree);
}

/** Builds the parts among options. Returns all options. */
export function buildOptions(tree: OptionsTree, building: Building): Record<string, unknown> {
  return new Builder(building).options(tree);
}

/**
 * Builds the parts of a tree, and keeps earlier parts where possible. Kept parts don't change until the updates are
 * carried out.
 */
export class Builder {
  /** All parts that were built or kept. */
  readonly made: MadeParts;
  /** Updates of kept parts whose options changed, inner parts first. */
  readonly updates: readonly Update[];
  readonly #made = new Map<string, Made>();
  readonly #updates: Update[] = [];
  readonly #before: MadeParts;
  readonly #building: Building;
  readonly #names: Names | undefined;

  /** `names` has the named parts that another document may replace. Not part of `building`, which templates keep. */
  constructor(building: Building, before: MadeParts = NONE, names?: Names) {
    this.made = this.#made;
    this.updates = this.#updates;
    this.#building = building;
    this.#before = before;
    this.#names = names;
  }

  /** Builds a part after its inner parts, or keeps the earlier part. */
  part<Part>(tree: PartTree<Part>): Part {
    if (isName(tree)) return this.#named(tree, "now") as Part;
    const old = this.#before.get(tree.path);
    const options = this.options(tree, old?.node);
    const part = this.#goOn(old, tree, options) ?? create(tree, options, this.#building);
    this.#made.set(tree.path, { node: tree, part });
    return part as Part;
  }

  /** Builds the options that are parts, and returns all options. `old` contains the previous options. */
  options(tree: OptionsTree, old?: OptionsTree): Record<string, unknown> {
    for (const [option, template] of Object.entries(tree.templates)) {
      const before = old?.templates[option];
      if (this.#building.hasTried || (before !== undefined && isSameTree(before, template))) continue;
      buildPart(template, this.#building); // reports the template's problems now, rather than at each use
    }
    return optionsOf(tree, this.#building, (part) => this.part(part));
  }

  /** Returns the earlier part, if it can be kept. */
  #goOn(old: Made | undefined, node: PartNode, options: object): unknown {
    if (old === undefined || old.node.definition !== node.definition) return undefined;
    const { part } = old;
    if (isSameOptions(old.node, node, (one, other) => this.#isSamePart(one, other))) return part;
    if (node.definition.update === undefined) return undefined;
    const before = this.#before;
    const partBefore = (tree: PartTree) => isName(tree) ? this.#named(tree, "before") : before.get(tree.path)!.part;
    this.#updates.push({ node, part, options, oldOptions: () => optionsOf(old.node, this.#building, partBefore) });
    return part;
  }

  /** Returns the part that has the name, in the document that is being built or in the one before. */
  #named(node: NameNode, when: keyof Names): unknown {
    return this.#names?.[when](node) ?? this.#building.named!(node);
  }

  /** Reports whether an old tree and a new tree stand for the same built part. */
  #isSamePart(old: PartTree, now: PartTree): boolean {
    if (isName(now)) return isSameTree(old, now) && this.#named(now, "before") === this.#named(now, "now");
    if (isName(old)) return false;
    return this.#made.get(now.path)!.part === this.#before.get(old.path)!.part;
  }
}

/** Returns options in the form in which definitions receive them. */
function optionsOf(
  { plain, parts, templates }: OptionsTree,
  building: Building,
  partOf: (tree: PartTree) => unknown,
): Record<string, unknown> {
  const options = { ...plain };
  for (const [option, part] of Object.entries(parts)) {
    options[option] = Array.isArray(part) ? part.map(partOf) : partOf(part as PartTree);
  }
  for (const [option, template] of Object.entries(templates)) options[option] = templateOf(template, building);
  return options;
}

/**
 * Creates a part. The definition may be third-party code: an error that it throws is reported as a problem with the
 * config.
 */
function create({ kind, definition, path }: PartNode, options: object, { action, context }: Building): unknown {
  const fail = (message: string, cause?: unknown) =>
    Object.assign(new ConfigError(action, [{ path, message }]), { cause });
  let part: unknown;
  try {
    part = definition.create(options as never, context);
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message : `creating ${inspect(definition.type)} failed`, cause);
  }
  if (!kind.is(part)) throw fail(`${inspect(definition.type)} created something that is not a ${kind.name}`);
  return kind.prepare === undefined ? part : kind.prepare(part);
}

/** Origin of a part that a template created. */
interface Origin {
  readonly node: PartNode;
  /** Inner parts of the part. */
  readonly inside: MadeParts;
}

/**
 * Origins of all parts that templates created. Templates may create many parts, so to save memory, all parts without
 * inner parts share one origin.
 */
const origins = /* @__PURE__ */ new WeakMap<object, Origin>();

/**
 * Returns a template that creates any number of parts from a node, and updates parts that were created from an earlier
 * node at the same place.
 */
function templateOf(node: PartNode, { ...building }: Building): Template<unknown> {
  Object.assign(building, { hasTried: true });
  const simple: Origin = { node, inside: NONE };
  const build = (builder: Builder): unknown => {
    const part = builder.part(node);
    carryOut(builder.updates, building);
    origins.set(part as object, builder.made.size === 1 ? simple : { node, inside: builder.made });
    return part;
  };
  const update = (part: unknown): unknown => {
    const origin = origins.get(part as object);
    if (origin === undefined) return build(new Builder(building));
    const earlier = replacedBy(part as object);
    if (earlier !== undefined && isSameTree(origins.get(earlier)!.node, node)) return earlier;
    const before = new Map([...origin.inside, [origin.node.path, { node: origin.node, part }]]);
    const now = build(new Builder(building, before));
    if (now !== part) noteReplaced(part as object, now as object);
    return now;
  };
  return Object.assign(() => build(new Builder(building)), { update, neverRefuses: !mayRefuse(node) });
}
