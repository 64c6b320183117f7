/** Report on the results, as a Markdown page. */

import { RUNTIMES } from "../../release/installed.ts";
import type { Figures } from "../figures.ts";
import { table } from "../markdown.ts";
import { type Contender, OURS, PARALLEL, XARGS } from "./contenders.ts";
import { CONCURRENCIES, type Facts, figureOf } from "./facts.ts";
import { ratioTo, targetsOf } from "./targets.ts";

/** Returns the whole page. */
export function report(figures: Figures, facts: Facts): string {
  const { machine, contenders, rounds, items, lines, minutes } = facts;
  const fewer = items[PARALLEL] === undefined ? "" : `, ${count(items[PARALLEL])} for ${PARALLEL}, which takes longest`;
  const page = [
    "# Benchmarks of the command",
    "",
    `Written by \`npx -y deno task bench:cli\`, one run of ${minutes.toFixed(0)} minutes, with the command as it is`,
    "installed for each runtime from what would be published. A round takes every measurement once, all right after each",
    "other; a figure is the median of the rounds, a ratio the median of the ratios of the rounds. The machine is shared",
    "with others: the ratios tell more than the items a second.",
    "",
    `- ${machine}`,
    ...contenders.map(({ name, runtime, version }) => `- ${runtime === "" ? `${name}: ` : ""}${version}`),
    `- ${rounds} rounds of ${count(items[OURS]!)} lines${fewer}; the long list has ${count(lines)}`,
    "",
    "## What has to be reached",
    "",
    "“0.8 ×” is at least 0.8 times as many items in the same time; MB and ms are at most.",
    "",
    ...targetTable(figures, facts),
    "",
    "## `true` for each line",
    "",
    "Lines come from a file, nothing is printed, nothing fails: all that is measured is how fast commands are started and",
    "waited for, with the start and the end of the program itself. The peers leave a child's output to the terminal or",
    "collect it in files; this command reads it through pipes, so that lines do not mix, and starts each child in a process",
    "group of its own.",
    "",
    ...CONCURRENCIES.flatMap((concurrency) => [...throughputTable(figures, facts, concurrency), ""]),
    "## A long list",
    "",
    `\`echo\` for each of ${count(lines)} lines, ${
      CONCURRENCIES[0]
    } at once, as its output tells when how many are done.`,
    "At its end the run does some lines and is stopped while a run that has just begun does as many, by turns: a machine",
    "may be slower at one time than at another. Memory is the most that the process itself ever had, without its children.",
    "",
    ...longTable(facts),
    "",
    "## From start to first child",
    "",
    "The time from the start of the command until its child, `date`, looks at the clock; and what the whole run of this",
    "one item and an empty program take on the same runtime, from start to end.",
    "",
    ...firstChildTable(facts),
  ];
  return page.join("\n") + "\n";
}

function targetTable(figures: Figures, facts: Facts): string[] {
  const rows = targetsOf(figures, facts).map(({ claim, measured }) => {
    const cells = RUNTIMES.map((runtime) => {
      const found = measured[runtime];
      return found === undefined ? "" : `${found.reached ? "✓" : "✗"} ${found.text} (${found.bound})`;
    });
    return [claim, ...cells];
  });
  return table(["", ...RUNTIMES.map((runtime) => `on ${runtime} (bound)`)], rows);
}

function throughputTable(figures: Figures, { contenders }: Facts, concurrency: number): string[] {
  const peers = [XARGS, PARALLEL].filter((peer) => contenders.some(({ name }) => name === peer));
  const rows = contenders.map((contender) => {
    const figure = figureOf(contender, concurrency);
    const [least, most] = figures.spread(figure).map(rateOf);
    const ratios = peers.map((peer) =>
      contender.runtime === "" ? "" : `${ratioTo(figures, peer, contender.runtime, concurrency).toFixed(2)} ×`
    );
    return [
      titleOf(contender),
      `${count(rateOf(figures.median(figure)))} (${count(most!)} – ${count(least!)})`,
      ...ratios,
    ];
  });
  const head = [`${concurrency} at once`, "items a second (rounds)", ...peers.map((peer) => `as ${peer}`)];
  return table(head, rows);
}

function longTable({ longRuns }: Facts): string[] {
  const rows = longRuns.map(({ runtime, end, fresh, steadiness, memory, minutes }) => [
    titleOf({ name: OURS, runtime }),
    count(end),
    count(fresh),
    `${steadiness.toFixed(2)} ×`,
    memory === undefined ? "?" : `${(memory / 1e6).toFixed(0)} MB`,
    minutes.toFixed(1),
  ]);
  return table(["", "items a second, at its end", "of a fresh run", "as fresh", "memory", "minutes"], rows);
}

function firstChildTable({ firstChildren }: Facts): string[] {
  const rows = firstChildren.map(({ runtime, median, least, oneItem, empty }) => [
    `on ${runtime}`,
    ...[median, least, oneItem, empty].map((ms) => `${ms.toFixed(0)} ms`),
    `${(oneItem / empty).toFixed(1)} ×`,
  ]);
  return table(["", "first child, median", "least", "whole run, median", "empty program, median", "as long"], rows);
}

function titleOf({ name, runtime }: Pick<Contender, "name" | "runtime">): string {
  return runtime === "" ? name : `${name} on ${runtime}`;
}

function rateOf(nanoseconds: number): number {
  return 1e9 / nanoseconds;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
