/**
 * Loading of config documents with named parts only.
 *
 * @module
 */

import { requireOptions } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { Random } from "../lib/base/random.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { onlyBuiltIn } from "../registry/built_in.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { requireContext } from "../registry/definition.ts";
import type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
import { type Definitions, registriesOf } from "./document.ts";
import { LoadedConfig } from "./loaded_config.ts";
import type { WorkQueueConfig } from "./work_queue_config.ts";

/** Options of {@linkcode loadConfig} and {@linkcode loadConfigWith}. */
export interface LoadConfigOptions {
  /**
   * Registry of the limiter types that the document may use. By default, {@linkcode loadConfig} uses
   * {@linkcode limiters}, and {@linkcode loadConfigWith} a registry without types.
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * Registry of the discipline types that the document may use. By default, {@linkcode loadConfig} uses
   * {@linkcode disciplines}, and {@linkcode loadConfigWith} a registry without types.
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Registry of the throttle types that the document may use. By default, {@linkcode loadConfig} uses
   * {@linkcode throttles}, and {@linkcode loadConfigWith} a registry without types.
   */
  throttles?: ThrottleRegistry | undefined;
  /**
   * Clock of the limiters and queues.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /**
   * Returns random numbers from 0 to 1. Limiters call this function.
   *
   * @default {Math.random}
   */
  random?: Random | undefined;
  /** Receives the metrics of the queues. By default, the queues have no metrics. */
  metrics?: MetricsProvider | undefined;
}

const ACTION = "load config";

/** Registry without types. */
const EMPTY = { get: () => undefined, types: () => [] };

/**
 * Loads a config document like {@linkcode loadConfig}, but the document may use only the types of the given registries.
 * A bundle of a program that calls this function has only these types, and not all built-in ones.
 *
 * The registry of limiters needs `maxOf`, `exponential` and `bucket` if a queue of the document has no `limiter`, and
 * the registry of throttles `bucket` if a throttle has no `type`.
 *
 * @example Usage
 * ```ts
 * import { exponential, limiterRegistry, loadConfigWith } from "@workqueue/core";
 * import { bucket, throttleRegistry } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfigWith(
 *   `{
 *     "limiters": { "backoff": { "type": "exponential", "baseDelay": "100ms", "maxDelay": "5m" } },
 *     "queues": { "mail": { "limiter": "backoff", "throttle": { "rate": 9, "burst": 5 }, "concurrency": 4 } }
 *   }`,
 *   { limiters: limiterRegistry(exponential), throttles: throttleRegistry(bucket) },
 * );
 * assertEquals(config.workers("mail").concurrency, 4);
 * ```
 *
 * @param source JSON text, or a parsed document.
 * @param options The registries, the clock, the source of random numbers and the metrics to use.
 * @returns The limiters, queues and pools of the document.
 * @throws {ConfigError} If the text is not JSON or the document is invalid. The error lists every problem.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function loadConfigWith(source: string | object, options: LoadConfigOptions): WorkQueueConfig {
  requireLoadOptions(options);
  const definitions = registriesOf(ACTION, options, { limiters: EMPTY, disciplines: EMPTY, throttles: EMPTY });
  return load(source, options, { ...definitions, presetLimiter: onlyBuiltIn(definitions.limiters) });
}

/** Throws unless the options are valid, except for the registries. */
export function requireLoadOptions(options: LoadConfigOptions): void {
  requireOptions(ACTION, options, ["limiters", "disciplines", "throttles", "clock", "random", "metrics"]);
  const { clock, random } = options;
  requireContext(ACTION, { clock, random });
}

/** Loads a document with the given definitions. */
export function load(
  source: string | object,
  { clock, random, metrics }: LoadConfigOptions,
  definitions: Definitions,
): WorkQueueConfig {
  return new LoadedConfig(source, { definitions, context: { clock, random }, queueOptions: { clock, metrics } });
}
