import { loadConfigFile } from "@workqueue/config-file";
import { loadConfig, type MetricsProvider, type WorkQueueConfig } from "@workqueue/core";
import { UsageError } from "../system/usage_error.ts";

/** For runs without a config: failures wait 100 ms, then twice as long each time, up to half a minute. */
const BUILT_IN_CONFIG = {
  queues: { default: { limiter: { type: "exponential", baseDelay: "100ms", maxDelay: "30s" } } },
};

/**
 * Loads the config of a run.
 *
 * @param path The config file; the built-in config if there is none.
 * @param metrics Where the queues' measurements go.
 * @returns What it describes.
 * @throws {UsageError} If the file cannot be read or anything in it is wrong.
 */
export function openConfig(path: string | undefined, metrics: MetricsProvider): WorkQueueConfig {
  if (path === undefined) return loadConfig(BUILT_IN_CONFIG, { metrics });
  try {
    return loadConfigFile(path, { metrics });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/**
 * Picks a queue of a config: the one named; else the only one, else the one named "default".
 *
 * @param config The config.
 * @param name The name, if the user gave one.
 * @returns The queue's name. Whether there is a queue of a name that was given, `config` says.
 * @throws {UsageError} If no name was given and the config leaves it open.
 */
export function pickQueue({ queueNames }: WorkQueueConfig, name: string | undefined): string {
  if (name !== undefined) return name;
  if (queueNames.length === 1) return queueNames[0]!;
  if (queueNames.includes("default")) return "default";
  const choice = queueNames.length === 0 ? "none" : queueNames.map((queue) => `"${queue}"`).join(", ");
  throw new UsageError(`Cannot pick a queue as the config has ${choice}: name one with --queue`);
}
