import { defaultControllerConfig, type RateLimiter, type WorkQueueConfig } from "@workqueue/core";

/** A limiter of a document. */
export interface DocumentLimiter {
  /** What it is called in the document; a limiter of a queue has the name of that. */
  readonly title: string;
  /** What the document says of it, in a few lines. */
  readonly description: readonly string[];
  /** Gets it from the config that was made of the document. */
  readonly pick: (config: WorkQueueConfig) => RateLimiter;
}

/** What a document has that was found right. */
interface Sections {
  readonly limiters?: Readonly<Record<string, unknown>>;
  readonly queues?: Readonly<Record<string, { readonly limiter?: unknown }>>;
}

/**
 * Finds the limiters of a document: those with names, and those that queues describe themselves.
 *
 * @param source The document, as `readConfigFile` gives it.
 * @returns The limiters.
 */
export function limitersOf(source: string | object): DocumentLimiter[] {
  const { limiters = {}, queues = {} } = parse(source);
  const ofQueues = Object.keys(queues).filter((name) => typeof queues[name]!.limiter !== "string");
  return [
    ...Object.keys(limiters).map((name) => namedLimiter(source, name)),
    ...ofQueues.map((name) => queueLimiter(source, name)),
  ];
}

/** The limiter of that name in a document. */
export function namedLimiter(source: string | object, name: string): DocumentLimiter {
  return {
    title: name,
    description: describe(parse(source).limiters?.[name], parse(source)),
    pick: (config) => config.limiter(name),
  };
}

/** The limiter that the queue of that name uses, be it a named one, or the default one. */
export function queueLimiter(source: string | object, name: string): DocumentLimiter {
  const sections = parse(source);
  const { limiters = {}, queues = {} } = sections;
  return {
    title: Object.hasOwn(limiters, name) ? `${name} (queue)` : name,
    description: describe(queues[name]?.limiter ?? defaultControllerConfig, sections),
    pick: (config) => config.describe(name).limiter.create(),
  };
}

function parse(source: string | object): Sections {
  return typeof source === "string" ? JSON.parse(source) : source;
}

/** Describes a limiter by its config, or by its name in the document. */
function describe(config: unknown, sections: Sections): string[] {
  if (typeof config === "string") return [`the same as ${config}`, ...describe(sections.limiters?.[config], sections)];
  const { type, ...options } = { type: "", ...config as object };
  return [type, ...describeOptions(options)];
}

/**
 * Describes the options of a limiter in a few short lines.
 *
 * @param options The options, as they are written in a document.
 * @returns The lines: an option with its value, where limiters are their types or names.
 */
export function describeOptions(options: object): string[] {
  return Object.entries(options).flatMap(([option, value]) =>
    `${option} ${[value].flat().map(shorten).join(",\n")}`.split("\n")
  );
}

function shorten(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return "type" in value ? String(value.type) : JSON.stringify(value);
}
