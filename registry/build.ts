/**
 * Parts of trees. What was made of an earlier tree goes on where it can: a part at the same place and of the same
 * definition stays the same object, and is updated if its options are others.
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

/** How parts are built of what was read. */
export interface Building extends Updating {
  /**
   * The part of that name, which is built already. It is the same for as long as there is such a name. Names are of a
   * document.
   */
  named?(node: NameNode): unknown;
  /** Whether each template was tried already. */
  readonly hasTried?: boolean;
}

/** A part, and what it was made of or updated for last. */
interface Made {
  readonly node: PartNode;
  readonly part: unknown;
}

/** What was made of some trees, by JSON Pointer: the parts that are no templates, and not inside of one. */
export type MadeParts = ReadonlyMap<string, Made>;

const NONE: MadeParts = /* @__PURE__ */ new Map();

/** Builds a part, and those that it is made of before it. */
export function buildPart<Part>(tree: PartTree<Part>, building: Building): Part {
  return new Builder(building).part(tree);
}

/**
 * Builds parts, in the place of those that were made before. Nothing that was there changes until the updates are
 * carried out.
 */
export class Builder {
  /** All that was built, and what goes on. */
  readonly made: MadeParts;
  /**
   * What is to be carried out for the parts that go on and have other options, those inside before those around them.
   */
  readonly updates: readonly Update[];
  readonly #made = new Map<string, Made>();
  readonly #updates: Update[] = [];
  readonly #before: MadeParts;
  readonly #building: Building;

  constructor(building: Building, before: MadeParts = NONE) {
    this.made = this.#made;
    this.updates = this.#updates;
    this.#building = building;
    this.#before = before;
  }

  /** Builds a part, and those that it is made of before it; or lets the one go on that was there before. */
  part<Part>(tree: PartTree<Part>): Part {
    if (isName(tree)) return this.#building.named!(tree) as Part;
    const old = this.#before.get(tree.path);
    const options = this.options(tree, old?.node);
    const part = this.#goOn(old, tree, options) ?? create(tree, options, this.#building);
    this.#made.set(tree.path, { node: tree, part });
    return part as Part;
  }

  /** Builds the parts among some options, and returns all of the options. `old` is what they were before. */
  options(tree: OptionsTree, old?: OptionsTree): Record<string, unknown> {
    for (const [option, template] of Object.entries(tree.templates)) {
      const before = old?.templates[option];
      if (this.#building.hasTried || (before !== undefined && isSameTree(before, template))) continue;
      buildPart(template, this.#building); // its problems show here, and not whenever it is used
    }
    return optionsOf(tree, this.#building, (part) => this.part(part));
  }

  /** The part that was there before, if it can do what is asked for now. */
  #goOn(old: Made | undefined, node: PartNode, options: object): unknown {
    if (old === undefined || old.node.definition !== node.definition) return undefined;
    const { part } = old;
    if (isSameOptions(old.node, node, (one, other) => this.#isSamePart(one, other))) return part;
    if (node.definition.update === undefined) return undefined;
    const before = this.#before;
    const partBefore = (tree: PartTree) => isName(tree) ? this.#building.named!(tree) : before.get(tree.path)!.part;
    this.#updates.push({ node, part, options, oldOptions: () => optionsOf(old.node, this.#building, partBefore) });
    return part;
  }

  /** Whether it is the same object that stood and stands there. */
  #isSamePart(old: PartTree, now: PartTree): boolean {
    if (isName(old) || isName(now)) return isSameTree(old, now);
    return this.#made.get(now.path)!.part === this.#before.get(old.path)!.part;
  }
}

/** Options as definitions take them. */
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

/** Calls the code of the definition, which may be anybody's: what it throws is a problem of the config. */
function create({ kind, definition, path }: PartNode, options: object, { action, context }: Building): unknown {
  const fail = (message: string, cause?: unknown) =>
    Object.assign(new ConfigError(action, [{ path, message }]), { cause });
  let part: unknown;
  try {
    part = definition.create(options as never, context);
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message : `creating ${inspect(definition.type)} failed`, cause);
  }
  if (!kind.is(part)) throw fail(`${inspect(definition.type)} created something that is no ${kind.name}`);
  return part;
}

/** What a part of a template was made of. */
interface Origin {
  readonly node: PartNode;
  /** The parts inside of it. */
  readonly inside: MadeParts;
}

/** Of all parts that templates have made. There may be very many, so those with no parts inside share theirs. */
const origins = /* @__PURE__ */ new WeakMap<object, Origin>();

/**
 * Makes parts of a node, any number of them, and brings those up to date that were made of another one at its place.
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
  return Object.assign(() => build(new Builder(building)), { update, neverRefuses: !mayRefuse(node, building) });
}
