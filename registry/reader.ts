import { brokenRule, ConfigError, type ConfigIssue, inspect, MAX_ISSUES_IN_MESSAGE } from "../lib/base/errors.ts";
import { escapePointer, isPlainObject, own } from "../lib/base/objects.ts";
import { suggest } from "../lib/base/suggest.ts";
import { type BrokenRule, findPartKind, type PartDefinition, type PartKind } from "./definition.ts";
import type { Fields, PartField, PartsField, PlainField } from "./fields.ts";
import { MAX_ITEMS } from "./option_kinds.ts";
import { kindOf, missingOption, offencesOf } from "./plain_values.ts";
import type { NameNode, OptionsTree, PartNode, PartTree } from "./tree.ts";

/** Maximum nesting depth of parts. Deeper nesting is a mistake or an attack. */
export const MAX_DEPTH = 32;
/** Maximum number of parts that one part may use, counting the part itself and the parts to which it refers by name. */
export const MAX_COUNT = 5000;
/** Maximum number of parts in a document. An object that appears in several places is counted each time. */
const MAX_TOTAL = 100_000;

/** Parts of one kind that a config may use. */
export interface PartSource<Part = unknown> {
  /** Kind of the parts. */
  readonly kind: PartKind<string, Part>;
  /** Definitions of the parts, by type. */
  readonly definitions: {
    get(type: string): PartDefinition<string, Part> | undefined;
    types(): string[];
  };
  /** Names of the document's parts of this kind; `undefined` if there is no document. */
  readonly names?: ReadonlySet<string> | undefined;
}

/**
 * Reads the parts of a config and collects problems. The returned trees are complete only if there are no problems, so
 * call {@linkcode ConfigReader.throwIssues} before building.
 */
export class ConfigReader {
  /** Problems found so far. */
  readonly issues: ConfigIssue[] = [];
  readonly #action: string;
  readonly #sources: ReadonlyMap<PartKind, PartSource>;
  readonly #kinds: readonly PartKind[];
  /** Number of parts that enclose the current part. */
  #depth = 0;
  /** Number of parts read since the reader entered the current outermost part. */
  #count = 0;
  /** Number of parts read in total. */
  #total = 0;

  /** Creates a reader that may read parts of the given kinds. Errors name the action. */
  constructor(action: string, ...sources: PartSource[]) {
    this.#action = action;
    this.#sources = new Map(sources.map((source) => [source.kind, source]));
    this.#kinds = [...this.#sources.keys()];
  }

  /**
   * Records a problem at a JSON Pointer. The hint is computed only if the error's message will show it, because
   * computing a hint is slow and a document may have thousands of problems.
   */
  fail(path: string, message: string, findHint?: () => string): void {
    const hint = this.issues.length < MAX_ISSUES_IN_MESSAGE ? findHint?.() : undefined;
    this.issues.push({ path, message: message + (hint ?? "") });
  }

  /** Throws an error that lists all problems found so far, if there are any. */
  throwIssues(): void {
    if (this.issues.length > 0) throw new ConfigError(this.#action, this.issues);
  }

  /** Reads an object of options according to their declarations. `elsewhere` says where other options are. */
  readOptions(
    fields: Fields<string>,
    input: Readonly<Record<string, unknown>>,
    path: string,
    elsewhere: PartKind["elsewhere"] = {},
  ): OptionsTree {
    for (const option of Object.keys(input)) {
      if (Object.hasOwn(fields, option) || input[option] === undefined) continue;
      const place = own(elsewhere, option);
      const message = `${inspect(option)} ${place ?? "is not an option here"}`;
      const findHint = place === undefined ? () => suggest(option, Object.keys(fields)) : undefined;
      this.fail(`${path}/${escapePointer(option)}`, message, findHint);
    }
    const plain: Record<string, unknown> = {};
    const parts: Record<string, PartTree | readonly PartTree[]> = {};
    const templates: Record<string, PartNode> = {};
    for (const [option, field] of Object.entries(fields)) {
      const at = `${path}/${escapePointer(option)}`;
      const given = own(input, option);
      const value = given === undefined ? own(field, "default") : given;
      if (value === undefined) {
        if (own(field, "required") !== false) this.fail(at, missingOption(option, field.description));
        continue;
      }
      const partOption = findPartKind(this.#kinds, field.kind);
      if (partOption === undefined) {
        plain[option] = this.#readPlain(field as PlainField, option, value, at);
        continue;
      }
      const { kind, isList } = partOption;
      if ((field as PartField<string>).template) {
        const template = this.#readTemplate(kind, option, value, at);
        if (template !== undefined) templates[option] = template;
        continue;
      }
      const part = isList
        ? this.#readList(kind, field as PartsField<string>, option, value, at)
        : this.readPart(kind, option, value, at);
      if (part !== undefined) parts[option] = part;
    }
    return { plain, parts, templates };
  }

  /** Reads a part's config or name. Returns `undefined` if the value is invalid. */
  readPart<Part>(
    kind: PartKind<string, Part>,
    option: string,
    value: unknown,
    path: string,
  ): PartTree<Part> | undefined {
    if (this.#depth === 0) this.#count = 0;
    if (typeof value === "string" && kind.hasNames) return this.#readName(this.#sources.get(kind)!, value, path);
    const rule = kind.hasNames ? `must be a ${kind.word} or the name of one` : this.#ruleOf(kind, value);
    return this.#readDescribed(kind, option, rule, value, path);
  }

  #readTemplate(kind: PartKind, option: string, value: unknown, path: string): PartNode | undefined {
    if (this.#depth === 0) this.#count = 0;
    const rule = kind.hasNames
      ? `must be the config of a ${kind.word}, not a name, because several are created from it`
      : this.#ruleOf(kind, value);
    return this.#readDescribed(kind, option, rule, value, path);
  }

  /**
   * Returns the rule for parts of a kind that can't have names. A string in place of such a part is usually meant to be
   * the part's type.
   */
  #ruleOf(kind: PartKind, value: unknown): string {
    const rule = `must be a ${kind.word}`;
    if (typeof value !== "string" || kind.onlyType !== undefined) return rule;
    const types = this.#sources.get(kind)!.definitions.types();
    const [type = value] = types.includes(value) ? [value] : types;
    return `${rule}, an object such as { "type": ${inspect(type)} }`;
  }

  /** Reads a part that is defined in place. */
  #readDescribed<Part>(
    kind: PartKind<string, Part>,
    option: string,
    rule: string,
    value: unknown,
    path: string,
  ): PartNode<Part> | undefined {
    if (!isPlainObject(value)) {
      this.fail(path, brokenRule(option, rule, value));
      return undefined;
    }
    if (!this.#isWithinLimits(kind, option, path)) return undefined;
    const source = this.#sources.get(kind) as PartSource<Part>;
    const definition = this.#findDefinition(source, kind.onlyType ?? typeIn(value, kind), path);
    if (definition === undefined) return undefined;
    const input = { ...value };
    if (kind.onlyType === undefined) delete input["type"];
    const issuesBefore = this.issues.length;
    this.#depth++;
    const options = this.readOptions(definition.options, input, path, kind.elsewhere);
    this.#depth--;
    if (this.issues.length === issuesBefore) this.#checkRules(definition, options, input, path);
    return { kind, definition, path, ...options };
  }

  #readPlain(field: PlainField, option: string, value: unknown, path: string): unknown {
    const kind = kindOf(field);
    const read = kind.read(field, value);
    if (read !== undefined) return read;
    for (const offence of offencesOf(kind, field, option, value)) {
      this.fail(path + offence.path, brokenRule(offence.option, offence.rule, offence.value));
    }
    return undefined;
  }

  #readList(
    kind: PartKind,
    { minItems = 0 }: PartsField<string>,
    option: string,
    value: unknown,
    path: string,
  ): PartTree[] {
    if (!Array.isArray(value) || value.length < minItems || value.length > MAX_ITEMS) {
      this.fail(path, brokenRule(option, `must be a list of ${minItems} to ${MAX_ITEMS} ${kind.word}s`, value));
      return [];
    }
    const parts: PartTree[] = [];
    for (const [i, item] of value.entries()) {
      const part = this.readPart(kind, `${option}[${i}]`, item, `${path}/${i}`);
      if (part !== undefined) parts.push(part);
    }
    return parts;
  }

  #readName({ kind, names }: PartSource, name: string, path: string): NameNode | undefined {
    if (names === undefined) {
      this.fail(path, brokenRule("config", "must be an object, as there is no document to look up a name in", name));
      return undefined;
    }
    if (names.has(name)) return { kind, name, path };
    this.fail(path, `${inspect(name)} is not the name of a ${kind.word} here`, () => suggest(name, [...names]));
    return undefined;
  }

  /**
   * Checks the limits on nesting and on the number of parts. These limits are necessary because an object can contain
   * itself or appear in many places.
   */
  #isWithinLimits({ word }: PartKind, option: string, path: string): boolean {
    this.#count++;
    this.#total++;
    if (this.#total > MAX_TOTAL) {
      if (this.#total === MAX_TOTAL + 1) this.fail(path, `'${option}' is one of more than ${MAX_TOTAL} ${word}s`);
      return false;
    }
    if (this.#count > MAX_COUNT) {
      if (this.#count === MAX_COUNT + 1) this.fail(path, `'${option}' is one of more than ${MAX_COUNT} in one ${word}`);
      return false;
    }
    if (this.#depth <= MAX_DEPTH) return true;
    this.fail(path, `'${option}' must not be nested in more than ${MAX_DEPTH} other ${word}s`);
    return false;
  }

  #findDefinition<Part>(
    { kind, definitions }: PartSource<Part>,
    type: unknown,
    path: string,
  ): PartDefinition<string, Part> | undefined {
    const definition = typeof type === "string" ? definitions.get(type) : undefined;
    if (definition !== undefined) return definition;
    const known = definitions.types();
    const list = known.length > 0 ? `one of ${known.map(inspect).join(", ")}` : `that of a registered ${kind.word}`;
    if (type === undefined) {
      this.fail(`${path}/type`, missingOption("type", list));
    } else if (typeof type !== "string") {
      this.fail(`${path}/type`, brokenRule("type", "must be a string", type));
    } else {
      this.fail(`${path}/type`, brokenRule("type", `must be ${list}`, type), () => suggest(type, known));
    }
    return undefined;
  }

  /** Checks the rules that involve several options. */
  #checkRules(
    definition: PartDefinition<string, unknown>,
    { plain }: OptionsTree,
    input: Readonly<Record<string, unknown>>,
    path: string,
  ): void {
    let broken: BrokenRule | undefined;
    try {
      broken = definition.check?.(plain); // may be third-party code
    } catch (error) {
      this.fail(path, error instanceof Error ? error.message : `checking ${inspect(definition.type)} failed`);
    }
    if (broken === undefined) return;
    const { option, rule } = broken;
    const value = own(Object.hasOwn(input, option) ? input : plain, option);
    this.fail(`${path}/${escapePointer(option)}`, brokenRule(option, rule, value));
  }
}

/** Returns the type in the config of a part. */
function typeIn(config: object, { defaultType }: PartKind): unknown {
  const type = own(config, "type");
  return type === undefined ? defaultType : type;
}
