/**
 * Descriptions of a config's parts as data, for displays and for engines that don't build parts in memory.
 *
 * @module
 */

import { type Building, buildPart } from "./build.ts";
import type { PartDefinition } from "./definition.ts";
import { isName, type NameNode, type OptionsTree, type PartNode, type PartTree } from "./tree.ts";

/**
 * Description of a checked part of a config, such as a limiter. Its properties are plain data that can be sent as JSON.
 * All other information is returned by its methods.
 */
export interface PartDescription<Part = unknown> {
  /** Type of the part, as in its config. */
  readonly type: string;
  /**
   * JSON Pointer to the part, in the document or the config. The path identifies the part. If several places in a
   * document refer to one part by name, the descriptions at these places all have the path of that part.
   */
  readonly path: string;
  /** Name that the document gives to the part. Absent for parts that are defined where they are used. */
  readonly name?: string;
  /**
   * Whether this is a template, from which any number of parts are created, such as one for each group of items. Absent
   * otherwise.
   */
  readonly template?: true;
  /** Options, with defaults filled in. Omitted options without a default are absent. */
  readonly options: Readonly<Record<string, OptionDescription>>;
  /**
   * Returns the definition of the type.
   *
   * @returns The definition used to check the config.
   */
  definition(): PartDefinition<string, Part>;
  /**
   * Creates the described part. If the description refers to other parts by name, the created part uses the document's
   * shared parts.
   *
   * @returns A new part.
   * @throws {ConfigError} If the definition can't create the part.
   */
  create(): Part;
}

/**
 * Value of an option in a part's description: plain data, or the descriptions of other parts, with names resolved.
 * Durations are in milliseconds and may be `Infinity`. Weights are an object, and lists of durations an array.
 */
export type OptionDescription =
  | number
  | boolean
  | string
  | Readonly<Record<string, number>>
  | readonly number[]
  | PartDescription
  | readonly PartDescription[];

/** Context for describing parts. */
export interface Describing {
  /** Context for building the described parts. */
  readonly building: Building;
  /**
   * Returns the description of the part with the given name. That description already exists. Absent if there is no
   * document, because only documents contain names.
   */
  named?(node: NameNode): PartDescription;
}

/** Describes a part and its inner parts. `name` is the part's name in the document. */
export function describePart<Part>(
  tree: PartTree<Part>,
  describing: Describing,
  name?: string,
): PartDescription<Part> {
  if (isName(tree)) return describing.named!(tree) as PartDescription<Part>;
  return new Described(tree, describing, name === undefined ? {} : { name });
}

/** Describes options, including those that are parts. */
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

/**
 * Implementation of {@linkcode PartDescription}. All internal state is private, so that descriptions can be compared
 * and sent as data.
 */
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
