import type { RateLimiter, WorkQueueConfig } from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";

/** A limiter of a document. */
export interface DocumentLimiter {
  /** Name in the document; the name of the queue, for a limiter that a queue describes itself. */
  readonly title: string;
  /** Its type and options, in a few lines. */
  readonly description: readonly string[];
  /** Gets the limiter from the config of the document. */
  readonly pick: (config: WorkQueueConfig) => RateLimiter;
}

/** The parts of a valid document that are used here. */
interface Sections {
  readonly limiters?: Readonly<Record<string, unknown>>;
  readonly queues?: Readonly<Record<string, { readonly limiter?: unknown }>>;
}

/**
 * Finds the limiters of a document: those with names, and those that queues describe themselves.
 *
 * @param source The document, as `readConfigFile` returns it.
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

/** Returns the limiter of a name in a document. */
export function namedLimiter(source: string | object, name: string): DocumentLimiter {
  return {
    title: name,
    description: describe(parse(source).limiters?.[name], parse(source)),
    pick: (config) => config.limiter(name),
  };
}

/** Returns the limiter of a queue: a named one, one of its own, or the default. */
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
 * @param options The options, as in a document.
 * @returns A line for each option with its value. The value of a limiter is its type or name.
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
