/**
 * A whole config document: limiters by name, and queues that use them.
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
import { registriesOf } from "./document.ts";
import { LoadedConfig } from "./loaded_config.ts";
import type { WorkQueueConfig } from "./work_queue_config.ts";

/** The options of {@linkcode loadConfig}. */
export interface LoadConfigOptions {
  /**
   * The types of limiter that the document may use.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * The types of discipline that the document may use.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Where the limiters and queues take time from.
   *
   * @default {systemClock}
   */
  clock?: Clock | undefined;
  /**
   * Where the limiters take random numbers from: from 0 up to 1.
   *
   * @default {Math.random}
   */
  random?: Random | undefined;
  /** Where the queues' measurements go. */
  metrics?: MetricsProvider | undefined;
}

const ACTION = "load config";

/**
 * Loads a config document: an object with `limiters` and `queues`, both optional, each an object by name. A
 * `$schema` is allowed.
 *
 * Where a limiter is expected, a text names another limiter of the document and shares it. A queue's options
 * are those of {@linkcode queueOptions}.
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
 * @param options The registries, the clock, the random numbers and the metrics to use.
 * @returns What the document describes.
 * @throws {ConfigError} If the text is not JSON, or anything in the document is wrong; with all that is.
 * @throws {TypeError} If an option is unknown or of the wrong type.
 */
export function loadConfig(source: string | object, options: LoadConfigOptions = {}): WorkQueueConfig {
  requireOptions(ACTION, options, ["limiters", "disciplines", "clock", "random", "metrics"]);
  const { clock, random, metrics } = options;
  requireContext(ACTION, { clock, random });
  const registries = registriesOf(ACTION, options);
  return new LoadedConfig(source, { registries, context: { clock, random }, queueOptions: { clock, metrics } });
}
