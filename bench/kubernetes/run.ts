/**
 * Compares a controller on `@workqueue/kubernetes` with the same one on controller-runtime. Needs Go. Writes
 * `bench/KUBERNETES.md`:
 *
 *     deno task bench:kubernetes [--rounds 5] [--minutes 20] [--quick] [--only Deno] [--rows faults]
 *
 * A round takes about a quarter of an hour. With `--minutes`, a group of rows is measured again only if it will
 * probably end before that time. `--quick` measures each row once with 500 objects, as a test of the benchmark itself,
 * and writes nothing. `--only` measures one contender, and `--rows` one group of rows: `faults`, `many` or `handover`.
 * Both can be given several times, and print only.
 *
 * @module
 */

import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { KUBERNETES } from "../../tests/kubernetes/real/programs.ts";
import { Figures } from "../figures.ts";
import { BENCH, machine } from "../machine.ts";
import { type Contender, findContenders } from "./contenders.ts";
import { figureOf, report } from "./report.ts";
import { type Measured, measureFaults, measureHandover, measureMany, type Scale } from "./rows.ts";

const FULL: Scale = { objects: 500, many: 5000, away: 20_000, changes: 20 };
const QUICK: Scale = { objects: 500, many: 500, away: 5000, changes: 5 };
const GROUPS: Readonly<Record<string, (contender: Contender, scale: Scale) => Promise<Measured>>> = {
  faults: measureFaults,
  many: measureMany,
  handover: measureHandover,
};

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    minutes: { type: "string", default: "Infinity" },
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    rows: { type: "string", multiple: true, default: [] },
  },
});
const rounds = values.quick ? 1 : Number(values.rounds);
if (!Number.isSafeInteger(rounds) || rounds < 1) {
  console.error(`--rounds must be a positive integer, got ${values.rounds}`);
  Deno.exit(2);
}
const scale = values.quick ? QUICK : FULL;
const groups = Object.entries(GROUPS).filter(([name]) => values.rows.length === 0 || values.rows.includes(name));
const start = performance.now();
const loadBefore = loadavg()[0]!;
const loads: number[] = [];
const contenders = await findContenders(values.only);
const figures = new Figures();

const minutes = () => (performance.now() - start) / 60_000;
/** Number of rounds of each group, and the minutes that they took. */
const done = groups.map(([group, measure]) => ({ group, measure, rounds: 0, minutes: 0 }));

/** Measures each contender once. */
async function measureAll({ group, measure }: typeof done[number], round: number): Promise<void> {
  // The order alternates from round to round.
  for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
    console.log(`round ${round} of ${group}: ${contender.name}`);
    try {
      const measured = await measure(contender, scale);
      for (const [figure, value] of Object.entries(measured)) figures.add(figureOf(figure, contender.name), value);
      console.log(JSON.stringify(measured, (_, value) => typeof value === "number" ? Math.round(value) : value));
    } catch (error) {
      console.error(`${contender.name}, ${group} failed: ${(error as Error).message}`);
    }
    loads.push(loadavg()[0]!);
  }
}

for (let round = 1; round <= rounds; round++) {
  for (const part of done) {
    const isTooLong = minutes() + part.minutes / part.rounds > Number(values.minutes);
    if (round > 1 && isTooLong) continue;
    const begin = minutes();
    await measureAll(part, ++part.rounds);
    part.minutes += minutes() - begin;
  }
}

const page = report(figures, {
  machine: machine(),
  kubernetes: KUBERNETES,
  contenders,
  rounds: done.map(({ group, rounds }) => `${rounds} of ${group}`).join(", "),
  minutes: minutes(),
  load: { before: loadBefore, during: loads.reduce((sum, load) => sum + load, 0) / loads.length },
  scale,
});
if (values.quick || values.only.length > 0 || values.rows.length > 0) console.log(page);
else {
  await Deno.writeTextFile(`${BENCH}KUBERNETES.md`, page);
  console.log("written: bench/KUBERNETES.md");
}
Deno.exit();
