import { loadConfigFile, readConfigFile } from "@workqueue/config-file";
import { loadConfig, type LoadConfigOptions } from "@workqueue/core";
import { loadPlugins } from "../config/plugins.ts";
import { chartOf } from "../delays/chart.ts";
import { type DocumentLimiter, limitersOf, namedLimiter, queueLimiter } from "../delays/document.ts";
import { type LimiterDelays, measureDelays } from "../delays/measure.ts";
import { svgOf } from "../delays/svg.ts";
import { tableOf } from "../delays/table.ts";
import { stdout } from "../system/standard_streams.ts";
import { UsageError } from "../system/usage_error.ts";
import type { DelaysFlags } from "./config_flags.ts";
import { print } from "./print.ts";

const DEFAULT_WIDTH = 80;

/**
 * Does what `workqueue delays` says: prints what the limiters of a config answer to failures.
 *
 * @param path The config file.
 * @param flags The options.
 * @throws {UsageError} If something is wrong with the config, the plugins or the options, or the output cannot be written.
 */
export async function delaysCommand(path: string, flags: DelaysFlags): Promise<void> {
  const { plugin, limiter = [], queue = [] } = flags;
  const options = await loadPlugins(plugin);
  const source = readChecked(path, options, limiter, queue);
  const chosen = [
    ...limiter.map((name) => namedLimiter(source, name)),
    ...queue.map((name) => queueLimiter(source, name)),
  ];
  const limiters = (chosen.length > 0 ? chosen : limitersOf(source)).map((limiter) =>
    measure(limiter, source, options, flags.failures)
  );
  if (limiters.length === 0) {
    throw new UsageError(`Cannot show delays as config '${path}' has no limiters and no queues`);
  }
  const { columns, isTTY } = stdout; // some terminals have no width
  const pictures = {
    table: () => tableOf(limiters, columns || undefined),
    chart: () => chartOf(limiters, columns || DEFAULT_WIDTH),
    svg: () => svgOf(limiters),
  };
  await print(pictures[flags.format ?? (isTTY ? "chart" : "table")]());
}

/** Reads a document in which nothing is wrong, and which has all that is asked for. */
function readChecked(
  path: string,
  options: LoadConfigOptions,
  limiters: readonly string[],
  queues: readonly string[],
): string | object {
  try {
    const config = loadConfigFile(path, options); // tells the places of what is wrong
    for (const name of limiters) config.limiter(name);
    for (const name of queues) config.describe(name);
    return readConfigFile(path);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Each limiter is asked in a config of its own: in one, they would wait for the tokens that others have taken. */
function measure(
  { title, description, pick }: DocumentLimiter,
  source: string | object,
  options: LoadConfigOptions,
  failures: number,
): LimiterDelays {
  try {
    const delays = measureDelays((context) => pick(loadConfig(source, { ...options, ...context })), failures);
    return { title, description, delays };
  } catch (error) { // of a plugin
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot show the delays of '${title}' as ${reason}`, { cause: error });
  }
}
