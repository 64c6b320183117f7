import { formatDuration, inOneLine } from "@workqueue/core/internal";
import type { LimiterDelays } from "./measure.ts";

const GAP = "  ";
const MAX_TITLE = 40;
const HEADINGS = ["delay", "total"];

/** Two columns under a common title. */
interface Columns {
  readonly title: string;
  readonly widths: readonly number[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Formats the delays of limiters as a table with a row for each failure. Each limiter has two columns: the delay and
 * the total of all delays so far.
 *
 * @param limiters The limiters and their delays. All limiters must have the same number of delays.
 * @param width Width of a table, in characters. Limiters that don't fit go into another table below. Each table has at
 * least one limiter. Default: no limit.
 * @returns The table, which ends with a line feed.
 */
export function tableOf(limiters: readonly LimiterDelays[], width = Infinity): string {
  const failures = failuresOf(limiters);
  const tables: Columns[][] = [];
  let left = 0;
  for (const columns of limiters.map(columnsOf)) {
    const needed = GAP.length + widthOf(columns.widths);
    left -= needed;
    if (tables.length === 0 || left < 0) {
      tables.push([]);
      left = width - widthOf([failures[0]!.length]) - needed;
    }
    tables.at(-1)!.push(columns);
  }
  return tables.map((table) => write(failures, table)).join("\n");
}

/**
 * Returns the rows of one limiter, so that the caller can append text to each row.
 *
 * @param limiter The limiter and its delays.
 * @returns The heading and a row for each delay, all of the same width.
 */
export function rowsOf(limiter: LimiterDelays): string[] {
  const { widths, rows } = columnsOf({ ...limiter, title: "" });
  const failures = failuresOf([limiter]);
  return [HEADINGS, ...rows].map((row, i) => line([failures[i]!, ...row], [failures[0]!.length, ...widths]));
}

/** Returns the heading and the cells of the first column. */
function failuresOf([limiter]: readonly LimiterDelays[]): string[] {
  return ["failure", ...(limiter?.delays ?? []).map((_, i) => String(i + 1))];
}

function columnsOf({ title, delays }: LimiterDelays): Columns {
  let total = 0;
  const rows = delays.map((delay) => [formatDuration(delay), formatDuration(total += delay)]);
  const widths = HEADINGS.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]!.length)));
  const shown = inOneLine(title).slice(0, MAX_TITLE);
  widths[0]! += Math.max(0, shown.length - widthOf(widths));
  return { title: shown, widths, rows };
}

function write(failures: readonly string[], columns: readonly Columns[]): string {
  const widths = [failures[0]!.length, ...columns.flatMap(({ widths }) => widths)];
  const titles = [
    failures[0]!.replaceAll(/./g, " "),
    ...columns.map(({ title, widths }) => title.padEnd(widthOf(widths))),
  ];
  const rows = failures.map((failure, i) =>
    line([failure, ...columns.flatMap(({ rows }) => i === 0 ? HEADINGS : rows[i - 1]!)], widths)
  );
  return [titles.join(GAP).trimEnd(), ...rows, ""].join("\n");
}

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, i) => cell.padStart(widths[i]!)).join(GAP);
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
}
