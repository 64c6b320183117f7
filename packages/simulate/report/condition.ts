import { argumentError, inspect, suggest, tryParseDuration } from "@workqueue/core/internal";
import { type Figure, figures, figuresOfClass, formatFigure } from "./figures.ts";
import type { SimulationReport } from "./report.ts";

/** A condition on a report, such as `p99 wait > 30s`. */
export interface Condition {
  /** The condition as it was given. */
  readonly text: string;
  /** Figure that is compared. */
  readonly figure: Figure;
  /** Reports whether the condition is true. */
  holds(report: SimulationReport): boolean;
  /** Returns the report's value of the figure, as text. */
  valueIn(report: SimulationReport): string;
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  ">": (value, bound) => value > bound,
  ">=": (value, bound) => value >= bound,
  "<": (value, bound) => value < bound,
  "<=": (value, bound) => value <= bound,
};

const ACTION = "read condition";

/**
 * Parses a condition: a figure, a comparison, and a bound.
 *
 * @throws {TypeError} If the text is not a condition.
 */
export function parseCondition(text: string): Condition {
  const [, name, comparison, bound] = /^\s*(.+?)\s*(>=|<=|>|<)\s*(.+?)\s*$/.exec(text) ?? [];
  if (name === undefined) {
    throw argumentError(ACTION, `${inspect(text)} must compare a figure with a bound, such as "p99 wait > 30s"`);
  }
  const figure = figureNamed(name);
  const limit = boundOf(figure, bound!);
  return {
    text: text.trim(),
    figure,
    holds: (report) => COMPARISONS[comparison!]!(valueOf(figure, report), limit),
    valueIn: (report) => formatFigure(figure, valueOf(figure, report)),
  };
}

/**
 * Returns the figure with the given name.
 *
 * @throws {TypeError} If there is none.
 */
export function figureNamed(name: string): Figure {
  const [, by, of] = / of (group|priority) (.+)$/.exec(name) ?? [];
  const known = by === undefined ? figures : figuresOfClass(by as "group" | "priority", of!);
  const found = known.find((figure) => figure.name === name);
  if (found !== undefined) return found;
  const names = known.map((figure) => figure.name);
  throw argumentError(
    ACTION,
    `there is no figure ${inspect(name)}${suggest(name, names) || `, only ${names.join(", ")}`}`,
  );
}

/** Returns the value of a figure. Throws if the report has none, for example because it has no such group. */
export function valueOf(figure: Figure, report: SimulationReport): number {
  const value = figure.of(report);
  if (!Number.isNaN(value)) return value;
  throw argumentError(ACTION, `the load has no ${figure.needs} for ${inspect(figure.name)}`);
}

function boundOf({ name, unit }: Figure, bound: string): number {
  const invalid = (rule: string) =>
    argumentError(ACTION, `the bound of ${inspect(name)} ${rule}, got ${inspect(bound)}`);
  if (unit === "time") {
    const duration = tryParseDuration(bound);
    if (duration === undefined) throw invalid('must be a duration such as "30s"');
    return duration;
  }
  const [, number, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(bound) ?? [];
  if (number === undefined || (percent !== "" && unit !== "share")) {
    throw invalid("must be a number");
  }
  return Number(number) / (percent === "" ? 1 : 100);
}
