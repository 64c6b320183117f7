/**
 * Runs controllers while everything fails at random, and checks what they did:
 *
 *     deno task random:kubernetes [--runs 1] [--seconds 120] [--seed N] [--runtime Deno] [--fake] [--planted]
 *
 * Run `i` has the seed `N + i`. Without `--runtime`, the runs go through the runtimes by turns. The actions and faults
 * depend on the seed; on a real API server, their times also depend on the machine. With `--fake`, the runs are against
 * the cluster for tests, in fake time, and take seconds. `--planted` checks the checker: it plants bugs in copies of
 * the package, and lets at most 60 fake runs find each of them.
 */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { fakeRun } from "./random/fake_run.ts";
import { findPlanted } from "./random/plant.ts";
import { PLANTED } from "./random/planted.ts";
import { randomRun, type RunResult } from "./random/run.ts";
import { RUNTIMES } from "./real_tests.ts";

const PLANTED_RUNS = "200";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    seconds: { type: "string", default: "120" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
    runtime: { type: "string", multiple: true, default: [...RUNTIMES] },
    fake: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
    "until-complaint": { type: "boolean", default: false },
  },
});
const [runs, seconds, seed] = [values.runs, values.seconds, values.seed].map(Number) as [number, number, number];

/** Prints the result of a run. Returns whether it is without a complaint. */
function report(title: string, { complaints, history }: RunResult): boolean {
  const { actions, faults, processes } = history;
  const begun = processes.flatMap(({ events }) => events).filter(({ event }) => event === "begin").length;
  const done = `${actions.length} actions, ${faults.length} faults, ${processes.length} processes, ${begun} attempts`;
  console.log(`${title}: ${done}: ${complaints.length === 0 ? "ok" : "FAILED"}`);
  if (complaints.length === 0) return true;
  for (const complaint of complaints.slice(0, 10)) console.log(`  ${complaint}`);
  const path = join(mkdtempSync(join(tmpdir(), "workqueue_random_")), "history.json");
  writeFileSync(path, JSON.stringify({ complaints, history }));
  console.log(`  history: ${path}`);
  return false;
}

/** Plants all bugs, one after the other. Returns the number of bugs that no run found. */
async function plantAll(): Promise<number> {
  let missed = 0;
  for (const planted of PLANTED) {
    const { isFound, output } = await findPlanted(planted, ["--runs", PLANTED_RUNS, "--seconds", "60", "--seed", "1"]);
    const lines = output.trim().split("\n");
    const found = lines.findIndex((line) => line.includes("FAILED"));
    console.log(`${planted.name}: ${isFound ? `found in run ${found + 1}: ${lines[found + 1]?.trim()}` : "MISSED"}`);
    if (!isFound) missed++;
  }
  console.log(`${PLANTED.length - missed} of ${PLANTED.length} bugs were found`);
  return missed;
}

if (values.planted) process.exit(await plantAll() > 0 ? 1 : 0);
let failed = 0;
for (let i = 0; i < runs && !(failed > 0 && values["until-complaint"]); i++) {
  const runtime = values.fake ? "fake time" : values.runtime[i % values.runtime.length]!;
  const result = values.fake ? await fakeRun(seed + i, seconds) : await randomRun(runtime, seed + i, seconds);
  if (!report(`${runtime}, seed ${seed + i}`, result)) failed++;
}
console.log(`${runs - failed} of ${runs} runs without a complaint`);
process.exit(failed > 0 ? 1 : 0);
