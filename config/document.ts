import { hasMethods } from "../lib/base/arguments.ts";
import { brokenRule, inspect, invalidArgument } from "../lib/base/errors.ts";
import { escapePointer, isPlainObject, own, PROTOTYPE_NAMES } from "../lib/base/objects.ts";
import { suggest } from "../lib/base/suggest.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { disciplineKind } from "../disciplines/definition.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { defaultControllerConfig } from "../limiters/defaults.ts";
import { limiterKind } from "../limiters/definition.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { throttleKind } from "../throttles/definition.ts";
import type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
import type { PartDefinition, PartKind } from "../registry/definition.ts";
import { missingOption } from "../registry/plain_values.ts";
import { ConfigReader, MAX_COUNT, type PartSource } from "../registry/reader.ts";
import { isName, nodesOf, type OptionsTree, type PartTree } from "../registry/tree.ts";
import { buildOrder, type Reference } from "./build_order.ts";
import { queueOptions } from "./queue_options.ts";

/** A config document that has been read and validated. None of its parts have been built. */
export interface DocumentTree {
  /** Names of the limiters, in the order of the document. */
  readonly limiterNames: readonly string[];
  /** Limiters by name. Each limiter comes after all limiters to which it refers. */
  readonly limiters: ReadonlyMap<string, PartTree<RateLimiter>>;
  /** Names of the limiters that are buckets, which queues can use as throttles. */
  readonly bucketNames: readonly string[];
  /** Definition of throttles that are buckets, if the document may use it. */
  readonly bucketThrottle: PartDefinition<string, Throttle> | undefined;
  /** Names of the throttles, in the order of the document. */
  readonly throttleNames: readonly string[];
  /** Throttles by name. Each throttle comes after all throttles to which it refers. */
  readonly throttles: ReadonlyMap<string, PartTree<Throttle>>;
  /**
   * Queues by name, in the order of the document. Every queue has a limiter: the default controller limiter if the
   * document specifies none.
   */
  readonly queues: ReadonlyMap<string, OptionsTree>;
}

/** Registries that code may pass, one for each kind of part. */
export interface Registries {
  readonly limiters: LimiterRegistry;
  readonly disciplines: DisciplineRegistry;
  readonly throttles: ThrottleRegistry;
}

/** Definitions used to read a document: those of the registries, and those of the default limiter. */
export interface Definitions {
  readonly limiters: PartSource<RateLimiter>["definitions"];
  readonly disciplines: PartSource["definitions"];
  readonly throttles: PartSource<Throttle>["definitions"];
  /** Definitions of the limiter of a queue that has none in the document: see `defaultControllerConfig`. */
  readonly presetLimiter: PartSource<RateLimiter>["definitions"];
}

/**
 * Reads a document: JSON text, or the output of a parser for another format.
 *
 * @throws {ConfigError} If the document is invalid. The error lists every problem.
 */
export function readDocument(action: string, source: unknown, definitions: Definitions): DocumentTree {
  const names = new Set<string>();
  const bucketNames = new Set<string>();
  const throttleNames = new Set<string>();
  const reader = new ConfigReader(
    action,
    { kind: limiterKind, definitions: definitions.limiters, names },
    { kind: disciplineKind, definitions: definitions.disciplines },
    { kind: throttleKind, definitions: definitions.throttles, names: throttleNames },
  );
  const document = typeof source === "string" ? parse(source, reader) : source;
  const sections = readSections(document, reader);
  for (const name of sections.limiters.keys()) names.add(name);

  const limiters = readNamed(limiterKind, sections.limiters, limiterPath, reader);
  const order = checkReferences(limiterKind, names, limiters, limiterPath, reader);
  for (const name of order) {
    const limiter = limiters.get(name);
    if (limiter === undefined) continue;
    if (isName(limiter) ? bucketNames.has(limiter.name) : limiter.definition.type === "bucket") bucketNames.add(name);
  }
  for (const name of [...sections.throttles.keys(), ...bucketNames]) throttleNames.add(name);
  for (const name of sections.throttles.keys()) {
    if (bucketNames.has(name)) {
      reader.fail(throttlePath(name), `${inspect(name)} is the name of a limiter with a bucket`);
    }
  }
  const throttles = readNamed(throttleKind, sections.throttles, throttlePath, reader);
  const throttleOrder = checkReferences(throttleKind, throttleNames, throttles, throttlePath, reader);
  const queues = new Map<string, OptionsTree>();
  for (const [name, value] of sections.queues) {
    queues.set(name, readQueue(name, value, reader, definitions.presetLimiter));
  }
  reader.throwIssues();
  return {
    limiterNames: [...names],
    limiters: new Map(order.map((name) => [name, limiters.get(name)!])),
    bucketNames: [...bucketNames],
    bucketThrottle: definitions.throttles.get("bucket"),
    throttleNames: [...sections.throttles.keys()],
    throttles: new Map(throttleOrder.flatMap((name) => throttles.has(name) ? [[name, throttles.get(name)!]] : [])),
    queues,
  };
}

/**
 * Returns the registries given as options, and the presets in place of those that are omitted. A registry may be from
 * another copy of this package.
 */
export function registriesOf<Presets extends { readonly [K in keyof Registries]: unknown }>(
  action: string,
  options: { [K in keyof Registries]?: Registries[K] | undefined },
  presets: Presets,
): { [K in keyof Registries]: Registries[K] | Presets[K] } {
  const registryOf = <K extends keyof Registries>(option: K): Registries[K] | Presets[K] => {
    const registry = own(options, option);
    if (registry === undefined) return presets[option];
    if (!hasMethods(registry, "get", "types", "build")) {
      throw invalidArgument(action, option, `must be a registry of ${option}`, registry);
    }
    return registry as Registries[K];
  };
  return {
    limiters: registryOf("limiters"),
    disciplines: registryOf("disciplines"),
    throttles: registryOf("throttles"),
  };
}

/** Returns the JSON Pointer to the limiter with the given name. */
export function limiterPath(name: string): string {
  return `/limiters/${escapePointer(name)}`;
}

/** Returns the JSON Pointer to the throttle with the given name. */
export function throttlePath(name: string): string {
  return `/throttles/${escapePointer(name)}`;
}

/** Returns the JSON Pointer to the queue with the given name. */
export function queuePath(name: string): string {
  return `/queues/${escapePointer(name)}`;
}

function parse(text: string, reader: ConfigReader): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const isPath = /^[^\s"{}[\]]+\.(json|jsonc|yaml|yml|toml)$/i.test(text);
    const message = isPath
      ? "a path was given, not the text of a config: use loadConfigFile() of @workqueue/config-file"
      : `the text is not JSON: ${(error as Error).message}`;
    reader.fail("", message);
    return reader.throwIssues();
  }
}

const SECTIONS = ["$schema", "limiters", "throttles", "queues"];

function readSections(
  document: unknown,
  reader: ConfigReader,
): Record<"limiters" | "throttles" | "queues", Map<string, unknown>> {
  if (!isPlainObject(document)) {
    reader.fail("", brokenRule("config", "must be an object", document));
    return { limiters: new Map(), throttles: new Map(), queues: new Map() };
  }
  for (const key of Object.keys(document)) {
    if (SECTIONS.includes(key) || document[key] === undefined) continue;
    const message = `${inspect(key)} is not a part of a config`;
    reader.fail(`/${escapePointer(key)}`, message, () => suggest(key, SECTIONS));
  }
  const schema = own(document, "$schema");
  if (schema !== undefined && typeof schema !== "string") {
    reader.fail("/$schema", brokenRule("$schema", "must be a string", schema));
  }
  return {
    limiters: readNames("limiters", document, reader),
    throttles: readNames("throttles", document, reader),
    queues: readNames("queues", document, reader),
  };
}

/** Names that limiters, throttles and queues can't have. */
export const FORBIDDEN_NAMES: readonly string[] = /* @__PURE__ */ [""].concat(PROTOTYPE_NAMES);

function readNames(section: string, document: Record<string, unknown>, reader: ConfigReader): Map<string, unknown> {
  const names = new Map<string, unknown>();
  const value = own(document, section);
  if (value === undefined) return names;
  if (!isPlainObject(value)) {
    reader.fail(`/${section}`, brokenRule(section, "must be an object", value));
    return names;
  }
  for (const name of Object.keys(value)) {
    if (FORBIDDEN_NAMES.includes(name)) {
      reader.fail(`/${section}/${escapePointer(name)}`, `${inspect(name)} must not be used as a name`);
    } else {
      names.set(name, value[name]);
    }
  }
  return names;
}

function readNamed<Part>(
  kind: PartKind<string, Part>,
  section: ReadonlyMap<string, unknown>,
  pathOf: (name: string) => string,
  reader: ConfigReader,
): Map<string, PartTree<Part>> {
  const parts = new Map<string, PartTree<Part>>();
  for (const [name, value] of section) {
    const part = reader.readPart(kind, name, value, pathOf(name));
    if (part !== undefined) parts.set(name, part);
  }
  return parts;
}

function readQueue(
  name: string,
  value: unknown,
  reader: ConfigReader,
  presetLimiter: Definitions["presetLimiter"],
): OptionsTree {
  const path = queuePath(name);
  if (!isPlainObject(value)) {
    reader.fail(path, brokenRule(name, "must be an object", value));
    return { plain: {}, parts: {}, templates: {} };
  }
  const { plain, parts, templates } = reader.readOptions(queueOptions, value, path);
  if (Object.hasOwn(parts, "limiter")) return { plain, parts, templates };
  if (own(value, "limiter") !== undefined) return { plain, parts, templates }; // it is invalid
  const limiter = defaultLimiter(`${path}/limiter`, reader, presetLimiter);
  return { plain, parts: { ...parts, ...(limiter && { limiter }) }, templates };
}

/**
 * Returns the default controller limiter, for a queue that has no limiter in the document. `path` is the JSON Pointer
 * at which a limiter would be.
 */
function defaultLimiter(
  path: string,
  reader: ConfigReader,
  definitions: Definitions["presetLimiter"],
): PartTree | undefined {
  const preset = new ConfigReader("read default limiter", { kind: limiterKind, definitions });
  const limiter = preset.readPart(limiterKind, "limiter", defaultControllerConfig, path);
  if (preset.issues.length === 0) return limiter;
  reader.fail(
    path,
    missingOption("limiter", "the default limiter needs the types 'max-of', 'exponential' and 'bucket'"),
  );
  return undefined;
}

/**
 * Checks that the references between parts have no cycle, and that no part uses too many other parts. Returns the names
 * in an order in which each name comes after all names to which it refers.
 */
function checkReferences(
  { word }: PartKind,
  names: Iterable<string>,
  parts: ReadonlyMap<string, PartTree>,
  pathOf: (name: string) => string,
  reader: ConfigReader,
): string[] {
  const references = new Map<string, Reference[]>();
  const counts = new Map<string, number>(); // number of parts that each part uses: at first, only inline ones
  for (const name of names) {
    const targets: Reference[] = [];
    let described = 0;
    for (const node of nodesOf(parts.get(name))) {
      if (isName(node)) targets.push({ to: node.name, path: node.path });
      else described++;
    }
    references.set(name, targets);
    counts.set(name, described);
  }

  const { order, circles } = buildOrder(references);
  for (const circle of circles) {
    const names = [circle.at(-1)!, ...circle].map(({ to }) => inspect(to)).join(" → ");
    reader.fail(circle[0]!.path, `${word}s must not refer to each other in a circle: ${names}`);
  }

  for (const name of order) {
    const count = references.get(name)!.reduce((sum, { to }) => sum + counts.get(to)!, counts.get(name)!);
    const isAllowed = count <= MAX_COUNT;
    counts.set(name, isAllowed ? count : 0); // 0, so that parts that refer to this part aren't reported too
    if (isAllowed) continue;
    reader.fail(pathOf(name), `${inspect(name)} uses more than ${MAX_COUNT} ${word}s`);
  }
  return order;
}
