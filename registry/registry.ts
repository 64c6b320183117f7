import { hasMethods } from "../lib/base/arguments.ts";
import { argumentError, inspect } from "../lib/base/errors.ts";
import { type Building, buildPart } from "./build.ts";
import {
  type BuildContext,
  type PartDefinition,
  type PartKind,
  requireContext,
  requireDefinition,
} from "./definition.ts";
import { describePart, type PartDescription } from "./description.ts";
import type { Fields } from "./fields.ts";
import { ConfigReader } from "./reader.ts";
import { partSchemas, SCHEMA_DIALECT } from "./schema.ts";
import type { PartTree } from "./tree.ts";

/**
 * The types of part that a config can name. There is a registry for each kind of part, such as
 * {@linkcode LimiterRegistry}; what they have in common is here.
 *
 * `Word` is what such a part is called in configs, and `Part` is what is built.
 */
export abstract class Registry<Word extends string, Part> {
  /** The kind of part that is registered here. */
  protected abstract readonly kind: PartKind<Word, Part>;
  readonly #definitions = new Map<string, PartDefinition<Word, Part>>();

  /**
   * Adds a type.
   *
   * @param definition The definition of the type.
   * @returns The registry itself.
   * @throws {TypeError} If a type of that name is registered already, or the definition is not valid.
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
   * Removes a type. What was built of it stays as it is.
   *
   * @param type The name of the type.
   * @returns Whether it was registered.
   */
  unregister(type: string): boolean {
    return this.#definitions.delete(type);
  }

  /**
   * Tells whether a type is registered.
   *
   * @param type The name of the type.
   * @returns Whether it is.
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
   * Lets a plugin register what it has.
   *
   * @param plugin Is called at once with the registry.
   * @returns The registry itself.
   */
  use(plugin: (registry: this) => void): this {
    plugin(this);
    return this;
  }

  /**
   * Makes a registry with everything that is registered here now. Later changes of one do not show in the other.
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
   * @param config The part's type and options. It cannot be a name, as there is no document to look in: that is what
   * {@linkcode loadConfig} is for.
   * @param context What the part is built with beside its options.
   * @returns A new part.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built in that case.
   * @throws {TypeError} If the context is not right.
   */
  build(config: unknown, context: BuildContext = {}): Part {
    const { tree, building } = this.#read(`build ${this.kind.word}`, config, context);
    return buildPart(tree, building);
  }

  /**
   * Checks the config of a part and gives it as data: defaults filled in, lengths of time in milliseconds. Nothing is
   * built.
   *
   * @param config The part's type and options, as `build` takes them.
   * @param context What parts are built with, for `create` of the description.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is not right; with everything that is wrong.
   * @throws {TypeError} If the context is not right.
   */
  describe(config: unknown, context: BuildContext = {}): PartDescription<Part> {
    const { tree, building } = this.#read(`describe ${this.kind.word}`, config, context);
    return describePart(tree, { building });
  }

  /**
   * Describes the config of a part as a JSON Schema (draft 2020-12), with the types registered now.
   *
   * What a schema cannot say, `build` still checks: rules between options (`maxDelay` not less than
   * `baseDelay`), the bounds of durations written as texts, and names.
   *
   * @returns The schema. In a registry of limiters, `$defs/limiter` is a limiter, and `$defs/limiterOrName` what an
   * option takes that is one.
   */
  jsonSchema(): Record<string, unknown> {
    return {
      $schema: SCHEMA_DIALECT,
      $ref: `#/$defs/${this.kind.word}`,
      $defs: partSchemas(this.kind, [...this.#definitions.values()]),
    };
  }

  #read(action: string, config: unknown, context: BuildContext): { tree: PartTree<Part>; building: Building } {
    requireContext(action, context);
    const reader = new ConfigReader(action, { kind: this.kind, definitions: this });
    const tree = reader.readPart(this.kind, "config", config, "");
    reader.throwIssues();
    return { tree: tree!, building: { action, context } };
  }
}

/** Registers the definitions among the exports of a module. The other exports are functions and single options. */
export function registerExports<R extends { register(definition: never): unknown }>(registry: R, exports: object): R {
  for (const value of Object.values(exports)) if (hasMethods(value, "create")) registry.register(value as never);
  return registry;
}
