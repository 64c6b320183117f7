import type { Times } from "../run/distribution.ts";
import type { ComparedFigure, Comparison } from "../compare/compare.ts";
import { formatFigure } from "./figures.ts";
import { formatCount, formatShare, formatTime } from "./format.ts";
import { sparkline } from "./plot.ts";
import type { ClassReport, SimulationReport } from "./report.ts";

/** Renders a report as text with small plots, `width` characters wide. */
export function textOf(report: SimulationReport, width = 80): string {
  const sections = [summaryOf(report), timesTable(report), plotsOf(report, width), factsIn(report)];
  return sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")).join("\n\n") + "\n";
}

/** Renders a comparison as text: each figure side by side, and the verdict. */
export function comparisonText({ names, figures, verdict }: Comparison): string {
  const rows = figures.map((figure) => [
    figure.name,
    ...figure.means.map((mean, i) => formatFigure(figure, mean) + signOf(figure, i)),
  ]);
  return [...table([["", ...names], ...rows]), "", verdict, ""].join("\n");
}

/** Marks a figure that is, with 95 % confidence, larger or smaller than with the first config. */
function signOf({ differences }: ComparedFigure, i: number): string {
  const { mean, margin } = differences[i]!;
  return Math.abs(mean) > margin ? mean > 0 ? " ▲" : " ▼" : "  ";
}

function summaryOf(report: SimulationReport): string[] {
  const {
    queue,
    duration,
    seed,
    arrivals,
    folded,
    events,
    attempts,
    retries,
    succeeded,
    givenUp,
    utilization,
    requests,
  } = report;
  const failures = Object.entries(report.failures).map(([reason, count]) => `${formatCount(count)} ${reason}`);
  const list = failures.length === 0 ? "" : ` (failures: ${failures.join(", ")})`;
  return [
    `Queue ${queue}, ${formatTime(duration)} simulated, seed ${seed}`,
    `  arrivals   ${formatCount(arrivals)}${folded === 0 ? "" : `, ${formatCount(folded)} of them folded`}${
      events === 0 ? "" : `; ${formatCount(events)} events of failing keys`
    }`,
    `  attempts   ${formatCount(attempts)}, ${formatCount(retries)} of them retries${list}`,
    `  succeeded  ${formatCount(succeeded)}; given up ${formatCount(givenUp)}`,
    `  workers    busy ${formatShare(utilization)} of the time`,
    `  backend    ${formatCount(requests.mean)} attempts per second on average, ${
      formatCount(requests.max.value)
    } at most`,
  ];
}

function timesTable(report: SimulationReport): string[] {
  const classes: [string, ClassReport][] = [
    ["all", report],
    ...Object.entries(report.byGroup).map(([name, times]): [string, ClassReport] => [name, times]),
    ...Object.entries(report.byPriority).map(([name, times]): [string, ClassReport] => [`priority ${name}`, times]),
  ];
  const rows = classes.map(([name, { waits, totals }]) => [
    name,
    ...cellsOf(waits, ["p50", "p90", "p99", "max"]),
    ...cellsOf(totals, ["p50", "p99", "max"]),
  ]);
  return table([["", "wait p50", "p90", "p99", "max", "total p50", "p99", "max"], ...rows]);
}

function cellsOf(times: Times, members: readonly ("p50" | "p90" | "p99" | "max")[]): string[] {
  return members.map((member) => times.count === 0 ? "–" : formatTime(times[member]));
}

function plotsOf({ timeline, duration }: SimulationReport, width: number): string[] {
  const rows = [
    ["arrivals", timeline.arrivals],
    ["attempts", timeline.attempts],
    ["retries", timeline.retries],
    ["backlog", timeline.backlog],
  ] as const;
  const lines = rows.map(([name, numbers]) => `  ${name.padEnd(9)} ${sparkline(numbers, width - 12)}`.trimEnd());
  return [...lines, `  ${"".padEnd(9)} 0 to ${formatTime(duration)}`];
}

function factsIn({ facts }: SimulationReport): string[] {
  return facts.map((fact) => `• ${fact}`);
}

/** Aligns the cells of a table: the first column to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    ("  " + row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)).join("  ")).trimEnd()
  );
}
