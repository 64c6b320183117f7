import type { RateLimiter, WorkQueueConfig } from "@workqueue/core";
import { defaultControllerConfig } from "@workqueue/core/limiters";

/** Limiter in a config document. */
export interface DocumentLimiter {
  /** Name in the document. For a limiter without a name, this is the name of its queue. */
  readonly title: string;
  /** Type and options, in a few lines. */
  readonly description: readonly string[];
  /** Returns the limiter, given the config that was loaded from the document. */
  readonly pick: (config: WorkQueueConfig) => RateLimiter;
}

/** Parts of a valid document that this file uses. */
interface Sections {
  readonly limiters?: Readonly<Record<string, unknown>>;
  readonly queues?: Readonly<Record<string, { readonly limiter?: unknown }>>;
}

/**
 * Returns the named limiters of a document, and the limiters of queues that don't refer to a named limiter.
 *
 * @param source The document, as returned by `readConfigFile`.
 * @returns The limiters.
 */
export function limitersOf(source: object): DocumentLimiter[] {
  const { limiters = {}, queues = {} }: Sections = source;
  const ofQueues = Object.keys(queues).filter((name) => typeof queues[name]!.limiter !== "string");
  return [
    ...Object.keys(limiters).map((name) => namedLimiter(source, name)),
    ...ofQueues.map((name) => queueLimiter(source, name)),
  ];
}

/** Returns the limiter with the given name. */
export function namedLimiter(source: object, name: string): DocumentLimiter {
  return {
    title: name,
    description: describe((source as Sections).limiters?.[name], source),
    pick: (config) => config.limiter(name),
  };
}

/** Returns the limiter of a queue: a named limiter, the queue's own limiter or the default. */
export function queueLimiter(source: object, name: string): DocumentLimiter {
  const { limiters = {}, queues = {} }: Sections = source;
  return {
    title: Object.hasOwn(limiters, name) ? `${name} (queue)` : name,
    description: describe(queues[name]?.limiter ?? defaultControllerConfig, source),
    pick: (config) => config.describe(name).limiter.create(),
  };
}

/** Describes a limiter, given its config or its name in the document. */
function describe(config: unknown, sections: Sections): string[] {
  if (typeof config === "string") return [`the same as ${config}`, ...describe(sections.limiters?.[config], sections)];
  const { type, ...options } = { type: "", ...config as object };
  return [type, ...describeOptions(options)];
}

/**
 * Describes the options of a limiter in short lines.
 *
 * @param options The options, as in a document.
 * @returns A line for each option with its value. A list has a line for each value. A limiter inside an option is shown
 * as its type or name.
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
