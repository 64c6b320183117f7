import { argumentError } from "@workqueue/core/internal";
import type { LoadDocument } from "../load/load.ts";
import { type Figure, figures, formatFigure } from "../report/figures.ts";
import { figureNamed, valueOf } from "../report/condition.ts";
import type { SimulationReport } from "../report/report.ts";
import { simulate, type SimulateOptions } from "../simulate.ts";

/** Options of {@linkcode compare}. */
export interface CompareOptions extends SimulateOptions {
  /**
   * Number of seeds. Each config is simulated with each of them, so that chance can be distinguished from a difference
   * of the configs.
   *
   * @default {5}
   */
  runs?: number | undefined;
  /**
   * Figure that decides which config is better, such as `p99 wait of group eu`.
   *
   * @default {the first that differs of: lost, unfinished and given-up items, recovery, p99 and mean total, attempts}
   */
  by?: string | undefined;
}

/** A figure of several configs. */
export interface ComparedFigure {
  /** Name of the figure, such as `p99 wait`. */
  readonly name: string;
  /** Unit of the figure. Times are in milliseconds. */
  readonly unit: Figure["unit"];
  /** Mean of the runs, for each config. */
  readonly means: readonly number[];
  /** Mean difference from the first config, and half the width of its 95 % confidence interval, for each config. */
  readonly differences: readonly { readonly mean: number; readonly margin: number }[];
}

/** Result of a comparison. */
export interface Comparison {
  /** Names of the configs. */
  readonly names: readonly string[];
  /** Figures of all items. */
  readonly figures: readonly ComparedFigure[];
  /** Index of the better config; `undefined` if no single config is better with confidence. */
  readonly better: number | undefined;
  /** A sentence that says which config is better, and why. */
  readonly verdict: string;
  /** Reports of the first seed, for each config. */
  readonly reports: readonly SimulationReport[];
}

/** Figures by which a config is better, the most important first. */
const DECIDING = ["lost", "unfinished", "given up", "recovery", "p99 total", "mean total", "attempts"];

/** Smallest difference that counts, as a share of the larger value. */
const MIN_DIFFERENCE = 0.02;

/** Two-sided 97.5 % quantiles of Student's t-distribution, by degrees of freedom. */
const T = [NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

const ACTION = "compare";

/**
 * Simulates several configs under the same load with the same seeds, and compares their figures. Arrivals, and the work
 * and the failures of each attempt, are the same for all configs.
 *
 * @example Usage
 * ```ts
 * import { compare } from "@workqueue/simulate";
 * import { assertEquals } from "@std/assert";
 *
 * const withConcurrency = (concurrency: number) => ({ queues: { images: { concurrency } } });
 * const { better, verdict } = await compare(
 *   { few: withConcurrency(2), many: withConcurrency(4) },
 *   {
 *     duration: "10m",
 *     arrivals: [{ type: "poisson", rate: 15 }],
 *     work: { type: "exponential", mean: "120ms" },
 *   },
 * );
 * assertEquals(better, 1);
 * assertEquals(verdict.startsWith("many is better: its p99 total is"), true);
 * ```
 *
 * @param configs The configs, at least two, by the names that the verdict uses.
 * @param load The load: JSON text, or a parsed document.
 * @param options All are optional.
 * @returns The comparison. It depends only on the arguments.
 * @throws {ConfigError} If a config or the load is invalid. The error lists every problem.
 * @throws {RangeError} If there are fewer than two configs or runs, or as {@linkcode simulate} does.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export async function compare(
  configs: Readonly<Record<string, string | object>>,
  load: string | LoadDocument,
  options: CompareOptions = {},
): Promise<Comparison> {
  const { runs = 5, seed = 1, by, ...others } = options;
  const deciding = (by === undefined ? DECIDING : [by]).map(figureNamed);
  const names = Object.keys(configs);
  if (names.length < 2) throw argumentError(ACTION, "there must be at least two configs", RangeError);
  if (!Number.isSafeInteger(runs) || runs < 2) {
    throw argumentError(ACTION, "'runs' must be an integer of at least 2", RangeError);
  }
  const reports: SimulationReport[][] = [];
  for (const name of names) {
    const ofConfig: SimulationReport[] = [];
    for (let run = 0; run < runs; run++) {
      ofConfig.push(await simulate(configs[name]!, load, { ...others, seed: seed + run }));
    }
    reports.push(ofConfig);
  }
  if (by !== undefined) valueOf(deciding[0]!, reports[0]![0]!); // throws if there is none
  const compared = figures.map((figure): ComparedFigure => {
    const values = reports.map((ofConfig) => ofConfig.map((report) => figure.of(report)));
    return {
      name: figure.name,
      unit: figure.unit,
      means: values.map(meanOf),
      differences: values.map((ofConfig) => differenceOf(values[0]!, ofConfig)),
    };
  });
  return {
    names,
    figures: compared.filter(({ means }) => !means.some(Number.isNaN)),
    ...decide(names, reports, deciding),
    reports: reports.map(([first]) => first!),
  };
}

/**
 * Decides which config is better: the config that is better than all others, with confidence, in the first such figure.
 * If there is no such figure, says which configs are better than the rest in the first figure.
 */
function decide(
  names: readonly string[],
  reports: readonly (readonly SimulationReport[])[],
  deciding: readonly Figure[],
): Pick<Comparison, "better" | "verdict"> {
  let tie: string | undefined;
  for (const figure of deciding) {
    const { words = figure.name } = figure;
    const values = reports.map((ofConfig) => ofConfig.map((report) => figure.of(report)));
    const means = values.map(meanOf);
    if (means.some(Number.isNaN)) continue;
    const best = means.indexOf(Math.min(...means));
    const isWorse = values.map((ofConfig, i) => i !== best && isClearlyLess(values[best]!, ofConfig));
    if (!isWorse.includes(true)) continue;
    const shown = means.map((mean) => formatFigure(figure, mean));
    const good = names.filter((_, i) => !isWorse[i]);
    const list = names.map((name, i) => `${shown[i]} with ${name}`).filter((_, i) => isWorse[i]).join(" and ");
    if (good.length === 1) {
      return { better: best, verdict: `${good[0]} is better: its ${words} is ${shown[best]}, compared to ${list}.` };
    }
    const least = shown.filter((_, i) => !isWorse[i]).join(" and ");
    tie ??= `${good.join(" and ")} are better: their ${words} is ${least}, compared to ${list}. ` +
      `Between these ${good.length}, it does not differ with confidence over ${reports[0]!.length} seeds.`;
  }
  if (tie !== undefined) return { better: undefined, verdict: tie };
  const [only, ...others] = deciding.map(({ name }) => name);
  const finding = others.length === 0 ? `${only} does not differ` : "no figure that matters differs";
  const verdict = `None is better: ${finding} with confidence over ${reports[0]!.length} seeds.`;
  return { better: undefined, verdict };
}

function isClearlyLess(values: readonly number[], others: readonly number[]): boolean {
  const { mean, margin } = differenceOf(values, others);
  return mean === Infinity || (mean > margin && mean > MIN_DIFFERENCE * meanOf(others));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the mean of the differences of pairs, and half the width of its 95 % confidence interval. */
function differenceOf(values: readonly number[], others: readonly number[]): { mean: number; margin: number } {
  const differences = values.map((value, i) => value === others[i] ? 0 : others[i]! - value);
  const mean = meanOf(differences);
  if (!Number.isFinite(mean)) return { mean: Number.isNaN(mean) ? 0 : mean, margin: 0 };
  const count = values.length;
  const squares = differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0);
  const margin = T[Math.min(count - 1, T.length - 1)]! * Math.sqrt(squares / (count - 1) / count);
  return { mean, margin };
}
