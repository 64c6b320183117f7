/**
 * Compares `workqueue`, as installed for each runtime, with xargs and GNU parallel. Writes `bench/CLI.md`:
 *
 *     deno task bench:cli [--rounds 5] [--items 10000] [--lines 100000] [--quick]
 *
 * `--items` is the length of the list in a round. `--lines` is the length of the long list, for which memory use and
 * steadiness are measured. A long list of a million lines takes an hour and a half. `--quick` runs a small part of each
 * measurement as a test of the benchmark itself, and writes nothing.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { RUNTIMES } from "../../release/installed.ts";
import { Figures } from "../figures.ts";
import { BENCH, machine } from "../machine.ts";
import { type Contender, findContenders, OURS, PARALLEL } from "./contenders.ts";
import { CONCURRENCIES, type Facts, figureOf } from "./facts.ts";
import { measureFirstChild } from "./first_child.ts";
import { List } from "./list.ts";
import { measureLongRun } from "./long_list.ts";
import { report } from "./report.ts";
import { measureThroughput } from "./throughput.ts";

/** Fraction of the list that GNU parallel, the slowest peer, processes. */
const SLOW = 0.2;
const STARTS = 20;

const OPTIONS = { rounds: "5", items: "10000", lines: "100000" };
const QUICK = { rounds: 1, items: 200, lines: 500 };

function readArguments() {
  const { rounds, items, lines } = OPTIONS;
  const { values: { quick, ...values } } = parseArgs({
    options: {
      rounds: { type: "string", default: rounds },
      items: { type: "string", default: items },
      lines: { type: "string", default: lines },
      quick: { type: "boolean", default: false },
    },
  });
  for (const [name, value] of Object.entries(values)) {
    if (Number.isSafeInteger(Number(value)) && Number(value) >= (name === "rounds" ? 1 : 100)) continue;
    console.error(`--${name} must be an integer, and at least ${name === "rounds" ? 1 : 100}, got ${value}`);
    Deno.exit(2);
  }
  const given = { rounds: Number(values.rounds), items: Number(values.items), lines: Number(values.lines) };
  return { isQuick: quick, ...(quick ? QUICK : given) };
}

const start = performance.now();
const { rounds, items, lines, isQuick } = readArguments();
const contenders = await findContenders();
const figures = new Figures();

{
  using list = new List(items);
  using short = new List(Math.ceil(items * SLOW));
  const listOf = ({ name }: Contender) => name === PARALLEL ? short : list;
  for (let round = 1; round <= rounds; round++) {
    for (const concurrency of CONCURRENCIES) {
      console.log(`round ${round} of ${rounds}, ${concurrency} at once`);
      // The order alternates from round to round.
      for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
        const time = await measureThroughput(contender, concurrency, listOf(contender));
        figures.add(figureOf(contender, concurrency), time);
      }
    }
  }
}
console.log("from start to first child");
const firstChildren = await measureFirstChild(RUNTIMES, isQuick ? 3 : STARTS);
const longRuns = [];
{
  using list = new List(lines);
  for (const contender of contenders.filter(({ name }) => name === OURS)) {
    console.log(`a long list: ${contender.runtime}`);
    longRuns.push(await measureLongRun(contender, CONCURRENCIES[0]!, list));
  }
}
const hasSlow = contenders.some(({ name }) => name === PARALLEL);
const facts: Facts = {
  machine: machine(),
  ...{ contenders, rounds, lines, longRuns, firstChildren },
  items: { [OURS]: items, ...(hasSlow && { [PARALLEL]: Math.ceil(items * SLOW) }) },
  minutes: (performance.now() - start) / 60_000,
};
const page = report(figures, facts);
if (isQuick) console.log(page);
else {
  await Deno.writeTextFile(`${BENCH}CLI.md`, page);
  console.log("written: bench/CLI.md");
}
Deno.exit(); // ends the process even though the local npm registry is still running
