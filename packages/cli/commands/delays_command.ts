import { loadConfigFile, readConfigFile } from "@workqueue/config-file";
import { loadConfig, type LoadConfigOptions } from "@workqueue/core";
import { loadPlugins } from "../config/plugins.ts";
import { chartOf } from "../delays/chart.ts";
import { type DocumentLimiter, limitersOf, namedLimiter, queueLimiter } from "../delays/document.ts";
import { type LimiterDelays, measureDelays } from "../delays/measure.ts";
import { svgOf } from "../delays/svg.ts";
import { tableOf } from "../delays/table.ts";
import { stdout } from "../system/standard_streams.ts";
import { messageOf } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import type { DelaysFlags } from "./config_flags.ts";
import { print } from "./print.ts";

const DEFAULT_WIDTH = 80;

/**
 * Runs `workqueue delays`: prints the delays of an item that keeps failing, for each limiter of a config.
 *
 * @param path Path of the config.
 * @param flags The options.
 * @throws {UsageError} If the config or an option is invalid, a plugin can't be loaded, or the output can't be written.
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
    throw new UsageError(`Cannot show delays: config '${path}' has no limiters and no queues`);
  }
  const { columns, isTTY } = stdout; // some terminals report no width
  const pictures = {
    table: () => tableOf(limiters, columns || undefined),
    chart: () => chartOf(limiters, columns || DEFAULT_WIDTH),
    svg: () => svgOf(limiters),
  };
  await print(pictures[flags.format ?? (isTTY ? "chart" : "table")]());
}

/**
 * Reads and checks the document.
 *
 * @throws {UsageError} If the document is invalid, or if an option names a limiter or queue that the document doesn't
 * contain.
 */
function readChecked(
  path: string,
  options: LoadConfigOptions,
  limiters: readonly string[],
  queues: readonly string[],
): object {
  try {
    const config = loadConfigFile(path, options); // reports errors with line and column
    for (const name of limiters) config.limiter(name);
    for (const name of queues) config.describe(name);
    return readConfigFile(path);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Measures a limiter. Loads the config anew for each limiter because limiters in one config can share tokens. */
function measure(
  { title, description, pick }: DocumentLimiter,
  source: object,
  options: LoadConfigOptions,
  failures: number,
): LimiterDelays {
  try {
    const delays = measureDelays((context) => pick(loadConfig(source, { ...options, ...context })), failures);
    return { title, description, delays };
  } catch (error) { // thrown by a plugin
    throw new UsageError(`Cannot show the delays of '${title}': ${messageOf(error)}`, { cause: error });
  }
}
