/**
 * Loading of config documents: limiters by name, and queues that use them.
 *
 * @module
 */

import { builtInLimiters } from "../limiters/limiters.ts";
import { defaultRegistries } from "./default_registries.ts";
import { registriesOf } from "./document.ts";
import { load, type LoadConfigOptions, requireLoadOptions } from "./load_config_with.ts";
import type { WorkQueueConfig } from "./work_queue_config.ts";

export type { LoadConfigOptions } from "./load_config_with.ts";

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
  requireLoadOptions(options);
  const registries = registriesOf("load config", options, defaultRegistries());
  return load(source, options, { ...registries, presetLimiter: builtInLimiters() });
}
