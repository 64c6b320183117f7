/**
 * Loading of config documents: limiters by name, and queues that use them.
 *
 * @module
 */

import { requireOptions } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { Random } from "../lib/base/random.ts";
import type { MetricsProvider } from "../lib/contracts/metrics.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { requireContext } from "../registry/definition.ts";
import type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
import { registriesOf } from "./document.ts";
import { LoadedConfig } from "./loaded_config.ts";
import type { WorkQueueConfig } from "./work_queue_config.ts";

/** Options of {@linkcode loadConfig}. */
export interface LoadConfigOptions {
  /**
   * Registry of the limiter types that the document may use.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * Registry of the discipline types that the document may use.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Registry of the throttle types that the document may use.
   *
   * @default {throttles}
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

/**
 * Loads a config document: an object with the optional members `limiters`, `throttles` and `queues`. They are objects
 * whose keys are names. The member `$schema` is allowed too.
 *
 * Wherever a document can contain the config of a limiter or a throttle, it can instead contain the name of one of the
 * document's limiters or throttles, which is then shared. {@linkcode queueOptions} documents the options of a queue.
 *
 * The source is JSON text or the output of a parser for another format. If any part of the document is invalid, the
 * whole document is rejected.
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
 * @param source JSON text, or a parsed document.
 * @param options The registries, the clock, the source of random numbers and the metrics to use.
 * @returns The limiters, queues and pools of the document.
 * @throws {ConfigError} If the text is not JSON or the document is invalid. The error lists every problem.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function loadConfig(source: string | object, options: LoadConfigOptions = {}): WorkQueueConfig {
  requireOptions(ACTION, options, ["limiters", "disciplines", "throttles", "clock", "random", "metrics"]);
  const { clock, random, metrics } = options;
  requireContext(ACTION, { clock, random });
  const registries = registriesOf(ACTION, options);
  return new LoadedConfig(source, { registries, context: { clock, random }, queueOptions: { clock, metrics } });
}
