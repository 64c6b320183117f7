/** Report on the results, as a Markdown page. */

import { table } from "../markdown.ts";
import type { Facts } from "./facts.ts";
import type { Figure, Figures } from "../figures.ts";
import { type Measured, targetsOf } from "./targets.ts";
import { CLIENT_GO, OURS, type Work } from "./work.ts";
import { works } from "./works.ts";

const NAMES: Readonly<Record<string, string>> = {
  deno: "Deno",
  bun: "Bun",
  "1": "Go, GOMAXPROCS=1",
  "2": "Go, GOMAXPROCS=2",
};

/** Returns the whole page. */
export function report(figures: Figures, facts: Facts): string {
  const lines = [
    "# Benchmarks",
    "",
    "Written by `npx -y deno task bench:peers`, which does the same work with this queue, with other queues and with the",
    "real client-go, in one go on one machine. Each measurement is a process of its own (mitata in JavaScript, the",
    "`testing` package in Go); a round takes every contender once, those of one work right after each other. A figure is",
    "the median of the rounds. The machine is shared with others: the ratios tell more than the nanoseconds, and a spread",
    "says how far to trust them. `npx -y deno bench` runs what `bench/*_bench.ts` measures of this queue alone.",
    "",
    `- ${facts.machine}`,
    ...facts.versions.map((version) => `- ${version}`),
    `- ${facts.rounds} rounds`,
    "",
    "## What has to be reached",
    "",
    "“2 × client-go” is twice as fast as client-go at its best, be it with one core or with two.",
    "",
    ...targetTable(figures, facts),
    "",
    "## Growth",
    "",
    "![Cost of a key from 1,000 to 1,000,000 keys](growth.svg)",
    "",
    "## Every figure",
    "",
  ];
  for (const [name, work] of Object.entries(works)) lines.push(...workTable(figures, name, work));
  lines.push("### Memory", "", ...memoryTable(facts), "", "### Lateness", "", ...latenessTable(facts), "");
  lines.push("### Requests to a busy process", "", ...latencyTable(facts));
  return lines.join("\n") + "\n";
}

function targetTable(figures: Figures, facts: Facts): string[] {
  const cell = (measured: Measured | undefined) =>
    measured === undefined ? "" : `${measured.reached ? "✓" : "✗"} ${measured.text}`;
  const rows = targetsOf(figures, facts).map(({ claim, bound, measured }) => [
    claim,
    bound,
    cell(measured.deno ?? measured.both),
    cell(measured.bun ?? measured.both),
  ]);
  return table(["work", "bound", "on Deno", "on Bun"], rows);
}

function workTable(figures: Figures, name: string, work: Work): string[] {
  const all: Figure[] = [];
  for (const contender of [...Object.keys(work.contenders), CLIENT_GO]) {
    for (const runtime of Object.keys(NAMES)) all.push({ work: name, contender, runtime });
  }
  const oursOn = (runtime: string) => figures.median({ work: name, contender: OURS, runtime });
  const rows = all.filter((figure) => figures.has(figure)).map((figure) => {
    const median = figures.median(figure);
    const [least, most] = figures.spread(figure);
    return [
      figure.contender,
      NAMES[figure.runtime]!,
      nanoseconds(median),
      `${nanoseconds(least)} – ${nanoseconds(most)}`,
      ...["deno", "bun"].map((runtime) => `${(median / oursOn(runtime)).toFixed(2)} ×`),
    ];
  });
  const head = ["", "on", `ns ${work.per ?? "an item"}`, "rounds", "of ours on Deno", "of ours on Bun"];
  return [`### ${work.title}`, "", ...(work.note === undefined ? [] : [work.note, ""]), ...table(head, rows), ""];
}

function nanoseconds(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}

function memoryTable({ memory }: Facts): string[] {
  const rows = Object.entries(memory).flatMap(([runtime, kinds]) =>
    Object.entries(kinds).map(([kind, { full, drained }]) => [
      `a million keys ${kind}`,
      NAMES[runtime]!,
      full.toFixed(1),
      drained.toFixed(1),
    ])
  );
  return table(["", "on", "bytes a key, beyond its string", "after draining"], rows);
}

function latenessTable({ lateness }: Facts): string[] {
  const rows = Object.entries(lateness).map(([runtime, { median, p99, worst, timers }]) => [
    NAMES[runtime]!,
    ...[median, p99, worst, timers].map((ms) => `${ms.toFixed(2)} ms`),
  ]);
  return table(["on", "median", "99th percentile", "worst", "a 1 ms timer, while workers have too much to do"], rows);
}

function latencyTable({ latency }: Facts): string[] {
  const rows = Object.entries(latency).flatMap(([runtime, works]) =>
    Object.entries(works).map(([work, { median, p99, worst, busy }]) => [
      work,
      NAMES[runtime]!,
      ...[median, p99, worst].map((ms) => `${ms.toFixed(1)} ms`),
      `${(100 * busy).toFixed(1)} %`,
    ])
  );
  return table(["kept busy by", "on", "median", "99th percentile", "worst", "of the time for the work"], rows);
}
