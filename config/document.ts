import { hasMethods } from "../lib/base/arguments.ts";
import { brokenRule, inspect, invalidArgument } from "../lib/base/errors.ts";
import { escapePointer, isPlainObject, own, PROTOTYPE_NAMES } from "../lib/base/objects.ts";
import { suggest } from "../lib/base/suggest.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { disciplineKind } from "../disciplines/definition.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { disciplines as defaultDisciplines } from "../disciplines/disciplines.ts";
import { defaultControllerConfig } from "../limiters/defaults.ts";
import { limiterKind } from "../limiters/definition.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { builtInLimiters, limiters as defaultLimiters } from "../limiters/limiters.ts";
import { throttleKind } from "../throttles/definition.ts";
import type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
import { throttles as defaultThrottles } from "../throttles/throttles.ts";
import type { PartKind } from "../registry/definition.ts";
import { ConfigReader, MAX_COUNT } from "../registry/reader.ts";
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

/** Registries used to read a document. */
export interface Registries {
  readonly limiters: LimiterRegistry;
  readonly disciplines: DisciplineRegistry;
  readonly throttles: ThrottleRegistry;
}

/**
 * Reads a document: JSON text, or the output of a parser for another format.
 *
 * @throws {ConfigError} If the document is invalid. The error lists every problem.
 */
export function readDocument(action: string, source: unknown, registries: Registries): DocumentTree {
  const names = new Set<string>();
  const bucketNames = new Set<string>();
  const throttleNames = new Set<string>();
  const reader = new ConfigReader(
    action,
    { kind: limiterKind, definitions: registries.limiters, names },
    { kind: disciplineKind, definitions: registries.disciplines },
    { kind: throttleKind, definitions: registries.throttles, names: throttleNames },
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
  for (const [name, value] of sections.queues) queues.set(name, readQueue(name, value, reader));
  reader.throwIssues();
  return {
    limiterNames: [...names],
    limiters: new Map(order.map((name) => [name, limiters.get(name)!])),
    bucketNames: [...bucketNames],
    throttleNames: [...sections.throttles.keys()],
    throttles: new Map(throttleOrder.flatMap((name) => throttles.has(name) ? [[name, throttles.get(name)!]] : [])),
    queues,
  };
}

/**
 * Returns the registries given as options. If a registry is omitted, returns the default registry in its place. A
 * registry may be from another copy of this package.
 */
export function registriesOf(
  action: string,
  options: { [K in keyof Registries]?: Registries[K] | undefined },
): Registries {
  return {
    limiters: registryOf(action, options, "limiters", defaultLimiters),
    disciplines: registryOf(action, options, "disciplines", defaultDisciplines),
    throttles: registryOf(action, options, "throttles", defaultThrottles),
  };
}

function registryOf<R>(action: string, options: object, option: keyof Registries, preset: R): R {
  const registry = own(options, option);
  if (registry === undefined) return preset;
  if (!hasMethods(registry, "get", "types", "jsonSchema")) {
    throw invalidArgument(action, option, `must be a registry of ${option}`, registry);
  }
  return registry as R;
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

function readQueue(name: string, value: unknown, reader: ConfigReader): OptionsTree {
  const path = queuePath(name);
  if (!isPlainObject(value)) {
    reader.fail(path, brokenRule(name, "must be an object", value));
    return { plain: {}, parts: {}, templates: {} };
  }
  const { plain, parts, templates } = reader.readOptions(queueOptions, value, path);
  if (Object.hasOwn(parts, "limiter")) return { plain, parts, templates };
  return { plain, parts: { ...parts, limiter: defaultLimiter(`${path}/limiter`) }, templates };
}

/**
 * Returns the default controller limiter, for a queue that has no limiter in the document. `path` is the JSON Pointer
 * at which a limiter would be.
 */
function defaultLimiter(path: string): PartTree {
  const reader = new ConfigReader("read default limiter", { kind: limiterKind, definitions: builtInLimiters() });
  return reader.readPart(limiterKind, "limiter", defaultControllerConfig, path)!;
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
