import { ConfigError, type Duration, loadConfig, type LoadConfigOptions } from "@workqueue/core";
import { A_STRING, argumentError, requireRules } from "@workqueue/core/internal";
import { type LoadDocument, loadOf, readLoadOptions } from "./load/load.ts";
import type { SimulationReport } from "./report/report.ts";
import { reportOf } from "./report/report_of.ts";
import { isTrace, readTrace } from "./trace/read_trace.ts";
import { Simulation } from "./run/simulation.ts";

/** Options of {@linkcode simulate}. */
export interface SimulateOptions extends Pick<LoadConfigOptions, "limiters" | "disciplines" | "throttles"> {
  /**
   * Seed of all random numbers. The same seed gives the same report on every runtime.
   *
   * @default {1}
   */
  seed?: number | undefined;
  /**
   * Name of the queue to simulate.
   *
   * @default {the load's `queue`, or the only queue of the config}
   */
  queue?: string | undefined;
  /**
   * Time during which items arrive. A number is milliseconds, and a text has a unit, such as `"5m"`.
   *
   * @default {the load's `duration`}
   */
  duration?: Duration | undefined;
  /** Configs to which the load's reloads refer, by their `config`. */
  configs?: Readonly<Record<string, string | object>> | undefined;
  /** Text of the trace that the load names, as `recordLoad` has written it. */
  trace?: string | undefined;
}

const ACTION = "simulate";

/**
 * Simulates a queue of a config under a load. Queue, limiters, discipline and pool are the real ones. Their clock jumps
 * from timer to timer, so a simulated hour takes a moment.
 *
 * The simulation goes on after the load's duration until no item is left, but at most for twice the duration. A load
 * that lasts as long as its trace goes on for at least an hour.
 *
 * @example The time until the backlog of an outage is gone
 * ```ts
 * import { simulate } from "@workqueue/simulate";
 * import { assert } from "@std/assert";
 *
 * const limiter = { type: "exponential", baseDelay: "1s", maxDelay: "1m" };
 * const config = { queues: { images: { concurrency: 4, limiter } } };
 * const report = await simulate(config, {
 *   duration: "30m",
 *   arrivals: [{ type: "poisson", rate: 10 }],
 *   work: { type: "lognormal", median: "100ms", p99: "1s" },
 *   failures: [{ type: "outage", from: "10m", for: "5m" }],
 * });
 * assert(report.outages[0]!.goneAt! < 20 * 60_000);
 * ```
 *
 * @param config The config: JSON text, or a parsed document.
 * @param load The load: JSON text, a parsed document, or the text of a trace.
 * @param options All are optional.
 * @returns The report. It depends only on the arguments.
 * @throws {ConfigError} If the config or the load is invalid. The error lists every problem.
 * @throws {RangeError} If the config has no queue with the given name, or several queues and no name is given.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export async function simulate(
  config: string | object,
  load: string | LoadDocument,
  options: SimulateOptions = {},
): Promise<SimulationReport> {
  const { seed = 1, configs = {}, duration, limiters, disciplines, throttles } = options;
  requireRules(ACTION, options, {
    seed: [(value: unknown) => Number.isSafeInteger(value), "must be an integer"],
    queue: A_STRING,
    duration: [() => true, ""], // checked with the load
    trace: A_STRING,
    configs: [isObject, "must be an object of configs"],
    limiters: [isObject, "must be a registry of limiters"],
    disciplines: [isObject, "must be a registry of disciplines"],
    throttles: [isObject, "must be a registry of throttles"],
  });
  const isTraceAlone = isTrace(load);
  const trace = isTraceAlone ? load : options.trace;
  const built = readLoadOptions(isTraceAlone ? { trace: "the load itself" } : load, duration);
  const registries = { limiters, disciplines, throttles };
  const { queueNames } = loadConfig(config, registries);
  const queue = queueOf(queueNames, options.queue ?? built.queue);
  for (const [i, { action }] of built.changes.entries()) {
    if (action.type !== "reload") continue;
    const fail = (message: string) => new ConfigError(ACTION, [{ path: `/changes/${i}/config`, message }]);
    const reloaded = Object.hasOwn(configs, action.config) ? configs[action.config] : undefined;
    if (reloaded === undefined) throw fail("the config of this reload was not given; pass it in `configs`");
    if (!loadConfig(reloaded, registries).queueNames.includes(queue)) {
      throw fail(`the config of this reload has no queue '${queue}'`);
    }
  }
  if (built.trace !== undefined && trace === undefined) {
    const message = "the trace was not given; pass its text as `trace`";
    throw new ConfigError(ACTION, [{ path: "/trace", message }]);
  }
  const traced = built.trace === undefined ? undefined : readTrace(trace!);
  const simulation = new Simulation({
    document: config,
    configs,
    queue,
    registries,
    load: loadOf(built, traced),
    trace: traced,
    seed,
  });
  await simulation.run();
  return reportOf(simulation, queue, seed);
}

/** Returns the name of the queue to simulate. */
function queueOf(names: readonly string[], name: string | undefined): string {
  if (name === undefined && names.length === 1) return names[0]!;
  const known = names.map((known) => `'${known}'`).join(", ");
  if (name === undefined) {
    throw argumentError(
      ACTION,
      names.length === 0 ? "the config has no queue" : `choose a queue: ${known}`,
      RangeError,
    );
  }
  if (!names.includes(name)) {
    throw argumentError(ACTION, `the config has no queue '${name}', only ${known}`, RangeError);
  }
  return name;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
