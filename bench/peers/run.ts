/**
 * Compares the queue with its peers and writes `bench/RESULTS.md` and `bench/growth.svg`:
 *
 *     deno task bench:peers [--rounds 7] [--only workers] [--on bun]
 *
 * With `--against`, compares the working tree with an earlier commit instead:
 *
 *     deno task bench:peers --against COMMIT [--runs 14] [--only "async handler"] [--on bun]
 *
 * @module
 */

import { parseArgs } from "node:util";
import { BENCH, machine } from "../machine.ts";
import { PROCS, RUNTIMES } from "../rows/row.ts";
import { RowFigures } from "../rows/row_figures.ts";
import { boundsTable, figuresSection, type Result } from "../rows/tables.ts";
import { inTurns } from "../rows/turns.ts";
import { MIN_ROUNDS } from "../rows/verdict.ts";
import { against, hashOf, MIN_RUNS } from "./against.ts";
import { againstWorks } from "./against_works.ts";
import { findGo, type Go } from "./go.ts";
import { plotGrowth } from "./plot.ts";
import { type Probe, probes } from "./probes.ts";
import { report } from "./report.ts";
import { OURS, type Work } from "./row.ts";
import { findRuntimes, runScript, type Runtime } from "./runtimes.ts";
import { works } from "./works.ts";

const rows: Readonly<Record<string, Work | Probe>> = { ...works, ...probes };

/** Measurement of one contender of a row, or of all figures of a probe, on one runtime. */
interface Turn {
  readonly name: string;
  /** Measures once. Returns the figures by contender. */
  measure(): Promise<Readonly<Record<string, number>>>;
  readonly runtime: string;
}

function turnsOf(name: string, runtimes: readonly Runtime[], go: Go | undefined): Turn[] {
  const row = rows[name]!;
  if ("measure" in row) {
    return runtimes.map((runtime) => ({
      name: `all (${runtime.name})`,
      runtime: runtime.name,
      measure: () => row.measure(runtime),
    }));
  }
  const turns = runtimes.flatMap((runtime) =>
    Object.keys(row.contenders).map((contender) => ({
      name: `${contender} (${runtime.name})`,
      runtime: runtime.name,
      measure: async () => ({ [contender]: Number(await runScript(runtime, "measure.ts", name, contender)) }),
    }))
  );
  if (go === undefined) return turns;
  const goTurns = Object.entries(row.go).flatMap(([contender, benchmark]) =>
    PROCS.map((procs) => ({
      name: `${contender} (GOMAXPROCS=${procs})`,
      runtime: procs,
      measure: async () => ({ [contender]: await go.measure(benchmark, procs) }),
    }))
  );
  return [...turns, ...goTurns];
}

async function readArguments() {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: String(MIN_ROUNDS) },
      only: { type: "string" },
      on: { type: "string" },
      against: { type: "string" },
      runs: { type: "string", default: String(MIN_RUNS) },
    },
  });
  const refuse = (option: string, rule: string): never => {
    console.error(`--${option} must be ${rule}, got ${values[option as keyof typeof values]}`);
    Deno.exit(2);
  };
  const integer = (name: "rounds" | "runs", least: number) => {
    const value = Number(values[name]);
    return Number.isSafeInteger(value) && value >= least ? value : refuse(name, `an integer, and at least ${least}`);
  };
  const { only, on, against: commit } = values;
  if (only !== undefined && commit === undefined && !Object.hasOwn(rows, only)) {
    refuse("only", `one of ${Object.keys(rows).join(", ")}`);
  }
  const measured = Object.keys(againstWorks);
  if (only !== undefined && commit !== undefined && !measured.some((work) => work.includes(only))) {
    refuse("only", `a part of one of ${measured.map((work) => `"${work}"`).join(", ")}`);
  }
  if (commit !== undefined && await hashOf(commit).catch(() => undefined) === undefined) {
    refuse("against", "a commit of this repository");
  }
  if (on !== undefined && !RUNTIMES.some((runtime) => runtime === on)) {
    refuse("on", `one of ${RUNTIMES.join(", ")}`);
  }
  return { rounds: integer("rounds", 1), runs: integer("runs", MIN_RUNS), only, on, commit };
}

const began = performance.now();
const { rounds, runs, only, on, commit } = await readArguments();
const runtimes = (await findRuntimes()).filter(({ name }) => on === undefined || name === on);
if (commit !== undefined) Deno.exit(await against(commit, runtimes, runs, only));
const go = await findGo();
if (go === undefined) console.log("Go is not here: its queues are left out.");

const results = new Map<string, Result>();
for (let round = 0; round < rounds; round++) {
  for (const [name, row] of Object.entries(rows)) {
    if (only !== undefined && name !== only) continue;
    if (row.rounds !== undefined && round >= row.rounds) continue;
    console.log(`round ${round + 1} of ${rounds}: ${row.title}`);
    if (!results.has(name)) results.set(name, { row, figures: new RowFigures() });
    for (const { name: turn, runtime, measure } of inTurns(turnsOf(name, runtimes, go), round)) {
      for (const [contender, figure] of Object.entries(await measure())) {
        results.get(name)!.figures.add(contender, runtime, figure);
        console.log(`  ${turn}${"measure" in row ? `: ${contender}` : ""}: ${figure.toFixed(2)} ${row.unit}`);
      }
    }
  }
}
const all = [...results.values()];
if (only !== undefined || on !== undefined) {
  console.log([...all.flatMap(figuresSection), ...boundsTable(all, OURS)].join("\n"));
} else {
  const page = report(all, {
    machine: machine(),
    versions: [
      ...runtimes.map(({ version }) => version),
      ...go?.versions ?? ["Go is not here: its queues are left out"],
    ],
    rounds,
    minutes: (performance.now() - began) / 60_000,
  });
  const plot = await plotGrowth(results.get("growthReady")!.figures, results.get("growthDelayed")!.figures);
  await Deno.writeTextFile(`${BENCH}growth.svg`, plot);
  await Deno.writeTextFile(`${BENCH}RESULTS.md`, page);
  console.log("written: bench/RESULTS.md, bench/growth.svg");
}
