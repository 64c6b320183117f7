/**
 * Parts of a config as data: what was read, for whoever makes something else of it than parts in memory, or shows it.
 *
 * @module
 */

import { type Building, buildPart } from "./build.ts";
import type { PartDefinition } from "./definition.ts";
import { isName, type NameNode, type OptionsTree, type PartNode, type PartTree } from "./tree.ts";

/**
 * A part of a config that was checked, such as a limiter. Its members are plain data, which can be sent as JSON; what
 * is not data is in its methods.
 */
export interface PartDescription<Part = unknown> {
  /** The type of the part, as its config names it. */
  readonly type: string;
  /**
   * Where the part is described: a JSON Pointer into the document, or into the config. It identifies the part: two
   * places that name the same part of a document share it, and have the same path here.
   */
  readonly path: string;
  /** The name that the document gives to the part; absent from those that are described where they are used. */
  readonly name?: string;
  /** Whether any number of parts are made of this, such as one for each group of items; absent otherwise. */
  readonly template?: true;
  /** The options, defaults filled in. Those that were left out and have no default are absent. */
  readonly options: Readonly<Record<string, OptionDescription>>;
  /**
   * The definition of the type.
   *
   * @returns The definition that the config was checked with.
   */
  definition(): PartDefinition<string, Part>;
  /**
   * Makes such a part. What it refers to by name is what the document shares.
   *
   * @returns A new part.
   * @throws {ConfigError} If its definition cannot make it.
   */
  create(): Part;
}

/**
 * An option of a part that is described: plain data, lengths of time in milliseconds and perhaps `Infinity`, weights as
 * an object; or parts, whose names are resolved.
 */
export type OptionDescription =
  | number
  | boolean
  | string
  | Readonly<Record<string, number>>
  | PartDescription
  | readonly PartDescription[];

/** How parts are described. */
export interface Describing {
  /** How the described parts are made. */
  readonly building: Building;
  /** The description of the part of that name, which exists already. Names are of a document. */
  named?(node: NameNode): PartDescription;
}

/** Describes a part, and those that it is made of. `name` is what the document calls it. */
export function describePart<Part>(
  tree: PartTree<Part>,
  describing: Describing,
  name?: string,
): PartDescription<Part> {
  if (isName(tree)) return describing.named!(tree) as PartDescription<Part>;
  return new Described(tree, describing, name === undefined ? {} : { name });
}

/** Describes options, and the parts among them. */
export function describeOptions(
  { plain, parts, templates }: OptionsTree,
  describing: Describing,
): Record<string, OptionDescription> {
  const options: Record<string, OptionDescription> = {};
  for (const [option, value] of Object.entries(plain)) {
    options[option] = value instanceof Map ? Object.fromEntries(value) : value as OptionDescription;
  }
  for (const [option, part] of Object.entries(parts)) {
    options[option] = Array.isArray(part)
      ? part.map((each) => describePart(each, describing))
      : describePart(part as PartTree, describing);
  }
  for (const [option, template] of Object.entries(templates)) {
    options[option] = new Described(template, describing, { template: true });
  }
  return options;
}

/** What is no data is no member, so that descriptions compare and travel as data. */
class Described<Part> implements PartDescription<Part> {
  readonly type: string;
  readonly path: string;
  declare readonly name?: string;
  declare readonly template?: true;
  readonly options: Readonly<Record<string, OptionDescription>>;
  readonly #node: PartNode<Part>;
  readonly #building: Building;

  constructor(node: PartNode<Part>, describing: Describing, marks: Pick<PartDescription, "name" | "template">) {
    this.type = node.definition.type;
    this.path = node.path;
    Object.assign(this, marks);
    this.options = describeOptions(node, describing);
    this.#node = node;
    this.#building = describing.building;
  }

  definition(): PartDefinition<string, Part> {
    return this.#node.definition;
  }

  create(): Part {
    return buildPart(this.#node, this.#building);
  }
}
