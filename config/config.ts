/**
 * A whole config document: limiters by name, and queues that use them.
 *
 * @module
 */

import { type Clock, MAX_TIMEOUT } from "../lib/base/clock.ts";
import { brokenRule, ConfigError, inspect } from "../lib/base/errors.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import {
  createRateLimitingQueue,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
} from "../lib/queue/rate_limiting_queue.ts";
import type { WorkerOptions } from "../lib/workers/run_workers.ts";
import { buildOrder, type Reference } from "./build_order.ts";
import { limiters as builtIns } from "../limiters/built_ins.ts";
import { ConfigReader, MAX_COUNT } from "../registry/config_reader.ts";
import { createDefaultControllerLimiter } from "../limiters/defaults.ts";
import type { Fields, OptionsOf } from "../registry/fields.ts";
import { parseJson } from "./json.ts";
import { optionsSchema } from "../registry/options_schema.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { escapePointer, isPlainObject, type Made, own, readOptions } from "../registry/read_options.ts";
import type { LimiterRegistry } from "../registry/registry.ts";
import { suggest } from "../lib/base/suggest.ts";

/** The options of a queue in a config document. */
export const queueOptions = {
  limiter: {
    kind: "limiter",
    required: false,
    description: "How long failed items wait; client-go's default controller limiter if left out.",
  },
  maxWait: {
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT,
    required: false,
    description: "The longest time until deadlines are looked at again; ten seconds if left out.",
  },
  concurrency: {
    kind: "integer",
    min: 1,
    required: false,
    description: "How many items are worked on at once; one if left out.",
  },
  maxRetries: {
    kind: "integer",
    min: 0,
    required: false,
    description: "How many times an item that fails is tried again until it is given up; without end if left out.",
  },
  timeout: {
    kind: "duration",
    min: 1,
    max: MAX_TIMEOUT,
    required: false,
    description: "How long one attempt may take; as long as it likes if left out.",
  },
} as const satisfies Fields;

/** The options of {@linkcode loadConfig}. */
export interface LoadConfigOptions {
  /**
   * The types of limiter that the document may use.
   *
   * @default {limiters}
   */
  registry?: LimiterRegistry;
  /**
   * Where the limiters and queues take time from.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /** Where the queues' measurements go. */
  metrics?: MetricsProvider | undefined;
}

/** What a config document describes. Made by {@linkcode loadConfig}. */
export interface WorkQueueConfig {
  /** The names of the document's limiters, in its order. */
  readonly limiterNames: string[];
  /** The names of the document's queues, in its order. */
  readonly queueNames: string[];
  /**
   * The limiter of that name. It was built once and is shared by everything that names it.
   *
   * @throws {RangeError} If the document has no limiter of that name.
   */
  limiter<T>(name: string): RateLimiter<T>;
  /**
   * Makes a queue as the document describes it. Queues made for one name share their limiter.
   *
   * @param options What the document cannot say, such as `keyOf`.
   * @throws {RangeError} If the document has no queue of that name.
   */
  queue<T>(name: string, options?: RateLimitingQueueOptions<T>): RateLimitingQueue<T>;
  /**
   * The options for {@linkcode runWorkers} that the document gives the queue.
   *
   * @throws {RangeError} If the document has no queue of that name.
   */
  workers(name: string): WorkerOptions;
}

/**
 * Loads a config document: an object with `limiters` and `queues`, both optional, each an object by name. A
 * `$schema` is allowed.
 *
 * Where a limiter is expected, a text names another limiter of the document and shares it. A queue's options
 * are `limiter`, `maxWait`, `concurrency`, `maxRetries` and `timeout`.
 *
 * The source is JSON text or what a parser of another format made of it. It is rejected whole if anything in
 * it is wrong.
 *
 * @example Usage
 * ```ts
 * import { loadConfig, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfig(`{
 *   "limiters": { "gentle": { "type": "exponential", "baseDelay": "10ms", "maxDelay": "1m" } },
 *   "queues": { "images": { "limiter": "gentle", "concurrency": 4, "maxRetries": 5, "timeout": "30s" } }
 * }`);
 *
 * const queue = config.queue<string>("images");
 * queue.add("cat.png");
 * const done: string[] = [];
 * runWorkers(queue, (item) => void done.push(item), config.workers("images"));
 * await queue.shutDownWithDrain();
 * assertEquals(done, ["cat.png"]);
 * ```
 *
 * @param source JSON text, or a document that is parsed already.
 * @param options The registry, the clock and the metrics to use.
 * @returns What the document describes.
 * @throws {ConfigError} If the text is not JSON, or anything in the document is wrong; with all that is.
 */
export function loadConfig(source: string | object, options: LoadConfigOptions = {}): WorkQueueConfig {
  const { registry = builtIns, clock, metrics } = options;
  const document = typeof source === "string" ? parse(source) : source;
  const references = new Map<string, Reference[]>();
  const built = new Map<string, RateLimiter>();
  let current: Reference[] = []; // of the limiter or queue being read

  const reader = new ConfigReader(ACTION, registry, { clock }, (name, path) => {
    if (!references.has(name)) {
      reader.fail(path, `${inspect(name)} is not the name of a limiter here${suggest(name, names)}`);
      return undefined;
    }
    current.push({ to: name, path });
    return () => built.get(name)!;
  });

  const sections = readSections(document, reader);
  for (const name of sections.limiters.keys()) references.set(name, []);
  const names = [...references.keys()];
  const makers = new Map<string, Made<RateLimiter>>();
  const counts = new Map<string, number>();
  for (const [name, value] of sections.limiters) {
    current = references.get(name)!;
    const make = reader.limiter(name, value, `/limiters/${escapePointer(name)}`);
    if (make !== undefined) makers.set(name, make);
    counts.set(name, reader.count);
  }
  const queues = new Map<string, Made<QueueSettings>>();
  for (const [name, value] of sections.queues) {
    current = [];
    queues.set(name, readQueue(name, value, reader, clock));
  }

  const { order, circles } = buildOrder(references);
  for (const circle of circles) {
    const names = [circle.at(-1)!, ...circle].map(({ to }) => inspect(to)).join(" → ");
    reader.fail(circle[0]!.path, `limiters must not refer to each other in a circle: ${names}`);
  }
  for (const name of order) {
    const own = counts.get(name)!;
    const count = references.get(name)!.reduce((sum, { to }) => sum + counts.get(to)!, own);
    counts.set(name, count);
    if (count <= MAX_COUNT) continue;
    counts.set(name, 0); // reported once, and not for all that refer to it
    if (own > MAX_COUNT) continue; // reported when it was read
    reader.fail(`/limiters/${escapePointer(name)}`, `${inspect(name)} asks more than ${MAX_COUNT} limiters in all`);
  }
  reader.throwIssues();
  for (const name of order) built.set(name, makers.get(name)!());
  return new LoadedConfig(built, sections.limiters, make(queues), { clock, metrics });
}

const ACTION = "load config";

/** A queue's part of the document, with its limiter built. */
type QueueSettings = Omit<OptionsOf<typeof queueOptions>, "limiter"> & { readonly limiter: RateLimiter };

class LoadedConfig implements WorkQueueConfig {
  readonly limiterNames: string[];
  readonly queueNames: string[];
  readonly #limiters: ReadonlyMap<string, RateLimiter>;
  readonly #queues: ReadonlyMap<string, QueueSettings>;
  readonly #options: Pick<LoadConfigOptions, "clock" | "metrics">;

  constructor(
    limiters: ReadonlyMap<string, RateLimiter>,
    document: ReadonlyMap<string, unknown>,
    queues: ReadonlyMap<string, QueueSettings>,
    options: Pick<LoadConfigOptions, "clock" | "metrics">,
  ) {
    this.limiterNames = [...document.keys()];
    this.queueNames = [...queues.keys()];
    this.#limiters = limiters;
    this.#queues = queues;
    this.#options = options;
  }

  limiter<T>(name: string): RateLimiter<T> {
    return find(this.#limiters, "limiter", name);
  }

  queue<T>(name: string, options: RateLimitingQueueOptions<T> = {}): RateLimitingQueue<T> {
    const { limiter, maxWait } = find(this.#queues, "queue", name);
    return createRateLimitingQueue<T>(limiter, { name, ...withoutAbsent({ ...this.#options, maxWait }), ...options });
  }

  workers(name: string): WorkerOptions {
    const { concurrency, maxRetries, timeout } = find(this.#queues, "queue", name);
    return withoutAbsent({ concurrency, maxRetries, timeout });
  }
}

function parse(text: string): unknown {
  const parsed = parseJson(text);
  if ("value" in parsed) return parsed.value;
  const { line, column, expected } = parsed.error;
  const message = `the text is not JSON: expected ${expected} at line ${line}, column ${column}`;
  throw new ConfigError(ACTION, [{ path: "", message }]);
}

const SECTIONS = ["$schema", "limiters", "queues"];

function readSections(document: unknown, reader: ConfigReader): Record<"limiters" | "queues", Map<string, unknown>> {
  if (!isPlainObject(document)) {
    reader.fail("", brokenRule("config", "must be an object", document));
    reader.throwIssues();
    return { limiters: new Map(), queues: new Map() };
  }
  for (const key of Object.keys(document)) {
    if (SECTIONS.includes(key)) continue;
    reader.fail(`/${escapePointer(key)}`, `${inspect(key)} is not a part of a config${suggest(key, SECTIONS)}`);
  }
  const schema = own(document, "$schema");
  if (schema !== undefined && typeof schema !== "string") {
    reader.fail("/$schema", brokenRule("$schema", "must be a string", schema));
  }
  return {
    limiters: readNames("limiters", document, reader),
    queues: readNames("queues", document, reader),
  };
}

/** Names that mean something to JavaScript objects: whoever uses them means mischief. */
const FORBIDDEN_NAMES = ["", "__proto__", "constructor", "prototype"];

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

function readQueue(name: string, value: unknown, reader: ConfigReader, clock: Clock | undefined): Made<QueueSettings> {
  const path = `/queues/${escapePointer(name)}`;
  if (!isPlainObject(value)) reader.fail(path, brokenRule(name, "must be an object", value));
  const { make } = readOptions(queueOptions, isPlainObject(value) ? value : {}, path, reader);
  return () => {
    const options = make();
    return { ...options, limiter: options.limiter ?? createDefaultControllerLimiter({ clock }) };
  };
}

function make<V>(makers: ReadonlyMap<string, Made<V>>): Map<string, V> {
  return new Map([...makers].map(([name, make]) => [name, make()]));
}

function find<V>(map: ReadonlyMap<string, V>, kind: string, name: string): V {
  const value = map.get(name);
  if (value !== undefined) return value;
  const hint = typeof name === "string" ? suggest(name, [...map.keys()]) : "";
  throw new RangeError(`Cannot get ${kind} as the config has none named ${inspect(name)}${hint}`);
}

/** Leaves out what is undefined: an option that is absent and one that is undefined are different things. */
function withoutAbsent<O extends object>(options: O): { [K in keyof O]?: NonNullable<O[K]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as typeof options;
}

/**
 * Describes a config document as a JSON Schema (draft 2020-12), with the types of limiter that are
 * registered now. For a file that `$schema` in a config can point to.
 *
 * @example Usage
 * ```ts
 * import { configSchema } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(configSchema().properties as object), ["$schema", "limiters", "queues"]);
 * ```
 *
 * @param registry The types of limiter that a document may use.
 * @returns The schema.
 */
export function configSchema(registry: LimiterRegistry = builtIns): Record<string, unknown> {
  const { $schema, $defs } = registry.jsonSchema();
  const byName = (schema: object, description: string) => ({
    type: "object",
    description,
    propertyNames: { not: { enum: FORBIDDEN_NAMES } },
    additionalProperties: schema,
  });
  return {
    $schema,
    title: "Work queues and their rate limiters",
    type: "object",
    properties: {
      $schema: { type: "string", description: "Where editors find the description of this document." },
      limiters: byName({ $ref: "#/$defs/limiterOrName" }, "Limiters, by the names that queues and other limiters use."),
      queues: byName({ $ref: "#/$defs/queue" }, "Queues, by name."),
    },
    additionalProperties: false,
    $defs: { ...($defs as object), queue: optionsSchema(queueOptions) },
  };
}
