import { hasMethods } from "../lib/base/arguments.ts";
import { argumentError, inspect } from "../lib/base/errors.ts";
import { type Building, buildPart } from "./build.ts";
import {
  type BuildContext,
  partContextOf,
  type PartDefinition,
  type PartKind,
  requireContext,
  requireDefinition,
} from "./definition.ts";
import { describePart, type PartDescription } from "./description.ts";
import type { Fields } from "./fields.ts";
import { ConfigReader, type PartSource } from "./reader.ts";
import type { PartTree } from "./tree.ts";

/**
 * Registry of the types of part that a config can contain. This is the base class of the registries for each kind of
 * part, such as {@linkcode LimiterRegistry}.
 *
 * `Word` is the kind of part in configs, and `Part` is the type of a built part.
 */
export abstract class Registry<Word extends string, Part> {
  /** The kind of part in this registry. */
  protected abstract readonly kind: PartKind<Word, Part>;
  readonly #registered = new Map<string, PartDefinition<Word, Part>>();
  #builtIns: object | undefined;

  /**
   * Creates a registry.
   *
   * @param builtIns A module that exports definitions, and possibly other things. The definitions are registered at the
   * first use of the registry, so that an import of the registry takes no time. None by default.
   */
  constructor(builtIns?: object) {
    this.#builtIns = builtIns;
  }

  get #definitions(): Map<string, PartDefinition<Word, Part>> {
    const exports = Object.values(this.#builtIns ?? {});
    this.#builtIns = undefined;
    for (const value of exports) if (hasMethods(value, "create")) this.register(value as never);
    return this.#registered;
  }

  /**
   * Adds a type.
   *
   * @param definition The definition of the type.
   * @returns The registry itself.
   * @throws {TypeError} If the type is already registered, or the definition is invalid.
   * @throws {RangeError} If a default in the definition is a number out of range.
   */
  register<Type extends string, F extends Fields<Word>>(definition: PartDefinition<Word, Part, Type, F>): this {
    requireDefinition(this.kind, definition);
    const { type } = definition;
    if (this.has(type)) {
      throw argumentError(`register ${this.kind.word}`, `the type ${inspect(type)} is registered already`);
    }
    this.#definitions.set(type, definition as unknown as PartDefinition<Word, Part>);
    return this;
  }

  /**
   * Removes a type. Existing parts of this type are not affected.
   *
   * @param type The name of the type.
   * @returns `true` if the type was registered, `false` otherwise.
   */
  unregister(type: string): boolean {
    return this.#definitions.delete(type);
  }

  /**
   * Reports whether a type is registered.
   *
   * @param type The name of the type.
   * @returns `true` if the type is registered, `false` otherwise.
   */
  has(type: string): boolean {
    return this.#definitions.has(type);
  }

  /**
   * Looks up the definition of a type.
   *
   * @param type The name of the type.
   * @returns The definition, or `undefined` if there is none.
   */
  get(type: string): PartDefinition<Word, Part> | undefined {
    return this.#definitions.get(type);
  }

  /**
   * Lists the registered types.
   *
   * @returns Their names, in the order of registration.
   */
  types(): string[] {
    return [...this.#definitions.keys()];
  }

  /**
   * Lets a plugin register its types.
   *
   * @param plugin Called immediately, with the registry as the argument.
   * @returns The registry itself.
   */
  use(plugin: (registry: this) => void): this {
    plugin(this);
    return this;
  }

  /**
   * Creates a copy of the registry. Later changes to one registry don't affect the other.
   *
   * @returns The new registry.
   */
  extend(): this {
    const registry = new (this.constructor as new () => this)();
    for (const [type, definition] of this.#definitions) registry.#definitions.set(type, definition);
    return registry;
  }

  /**
   * Builds a part from its config.
   *
   * @param config The part's type and options. A name is refused, because there is no document in which to look it up;
   * for names, use {@linkcode loadConfig}.
   * @param context The clock and the source of random numbers for the part.
   * @returns A new part.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  build(config: unknown, context: BuildContext = {}): Part {
    const { tree, building } = this.#read(`build ${this.kind.word}`, config, context);
    return buildPart(tree, building);
  }

  /**
   * Checks the config of a part and returns it as data, with defaults filled in and durations in milliseconds. Nothing
   * is built.
   *
   * @param config The part's type and options, as for `build`.
   * @param context The clock and the source of random numbers for the description's `create`.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  describe(config: unknown, context: BuildContext = {}): PartDescription<Part> {
    const { tree, building } = this.#read(`describe ${this.kind.word}`, config, context);
    return describePart(tree, { building });
  }

  #read(action: string, config: unknown, context: BuildContext): { tree: PartTree<Part>; building: Building } {
    requireContext(action, context);
    const definitions = this as PartSource<Part>["definitions"]; // TypeScript can't tell which options are plain data
    const reader = new ConfigReader(action, { kind: this.kind, definitions });
    const tree = reader.readPart(this.kind, "config", config, "");
    reader.throwIssues();
    return { tree: tree!, building: { action, context: partContextOf(context) } };
  }
}
