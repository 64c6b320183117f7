/**
 * Compares simulations with reality: `deno task prove:real [--only deno-1] [--keep]`. Works on 2,200 items in each of
 * ten processes at once, for about five minutes, records the loads, and simulates the traces. Exits with 1 if a wait is
 * out of bounds. With `--keep`, the traces become those of the tests.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { runtimes } from "../../runtimes.ts";
import { isClose, PERCENTILES, type Run, runs, simulatedWaits, type Waits } from "./runs.ts";

const RECORD = fileURLToPath(new URL("record.ts", import.meta.url));
const TRACES = new URL("traces/", import.meta.url);

const { values: { only, keep } } = parseArgs({
  options: { only: { type: "string", default: "" }, keep: { type: "boolean", default: false } },
});

/** Records a run in a process of its own. */
async function record(run: Run, path: string): Promise<Waits> {
  const [program, ...args] = await runtimes[run.runtime]!();
  const { stdout } = await promisify(execFile)(program!, [...args, RECORD, JSON.stringify(run), path]);
  return JSON.parse(stdout);
}

const folder = mkdtempSync(join(tmpdir(), "workqueue-reality-"));
let isProven = true;
try {
  const chosen = runs.filter(({ name }) => name.includes(only));
  console.log("| run | wait | measured | simulated | error |\n| --- | --- | --- | --- | --- |");
  const kept: Record<string, Waits> = {};
  await Promise.all(chosen.map(async (run) => {
    const path = join(folder, `${run.name}.jsonl`);
    const measured = kept[run.name] = await record(run, path);
    const trace = readFileSync(path, "utf8");
    const simulated = await simulatedWaits(run, trace);
    for (const name of PERCENTILES) {
      const [real, virtual] = [measured[name], simulated[name]];
      isProven &&= isClose(virtual, real);
      const error = `${(virtual - real).toFixed(2)} ms, ${(100 * (virtual / real - 1)).toFixed(1)} %`;
      console.log(`| ${run.name} | ${name} | ${real.toFixed(1)} ms | ${virtual.toFixed(1)} ms | ${error} |`);
    }
    if (!keep) return;
    mkdirSync(TRACES, { recursive: true });
    writeFileSync(new URL(`${run.name}.jsonl.gz`, TRACES), gzipSync(trace, { level: 9 }));
  }));
  if (keep) writeFileSync(new URL("waits.json", TRACES), JSON.stringify(kept, null, 2) + "\n");
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(isProven ? 0 : 1);
