/**
 * Runs controllers on a real API server while everything fails at random, and checks what they did:
 *
 *     deno task random:kubernetes [--runs 1] [--seconds 120] [--seed N] [--runtime Deno]
 *
 * Run `i` has the seed `N + i`. Without `--runtime`, the runs go through the runtimes by turns. The actions and faults
 * depend on the seed; their times also depend on the machine.
 */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { randomRun } from "./random/run.ts";
import { RUNTIMES } from "./real_tests.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    seconds: { type: "string", default: "120" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
    runtime: { type: "string", multiple: true, default: [...RUNTIMES] },
  },
});
const [runs, seconds, seed] = [values.runs, values.seconds, values.seed].map(Number) as [number, number, number];

let failed = 0;
for (let i = 0; i < runs; i++) {
  const runtime = values.runtime[i % values.runtime.length]!;
  const { complaints, history } = await randomRun(runtime, seed + i, seconds);
  const { actions, faults, processes } = history;
  const begun = processes.flatMap(({ events }) => events).filter(({ event }) => event === "begin").length;
  const done = `${actions.length} actions, ${faults.length} faults, ${processes.length} processes, ${begun} attempts`;
  console.log(`${runtime}, seed ${seed + i}: ${done}: ${complaints.length === 0 ? "ok" : "FAILED"}`);
  if (complaints.length === 0) continue;
  failed++;
  for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`);
  const path = join(mkdtempSync(join(tmpdir(), "workqueue_random_")), "history.json");
  writeFileSync(path, JSON.stringify({ complaints, history }));
  console.log(`  history: ${path}`);
}
console.log(`${runs - failed} of ${runs} runs without a complaint`);
process.exit(failed > 0 ? 1 : 0);
