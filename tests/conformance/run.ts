/**
 * Records traces of client-go and controller-runtime, which needs Go, and replays them at once:
 *
 *     deno task conformance --seed 7 --traces 20000
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { families, replay } from "./replay.ts";

/** How many differences of a family are shown. */
const SHOWN = 3;

/** Records traces with Go. Returns what is wrong, if anything is. */
function record(
  seed: number,
  traces: number,
  directory: string,
): string | undefined {
  const args = ["test", "-run", "TestRecord", "-count=1", ".", "-args"];
  const { error, status, stdout, stderr } = spawnSync(
    "go",
    [...args, "-seed", `${seed}`, "-traces", `${traces}`, "-out", directory],
    {
      cwd: fileURLToPath(new URL("record/", import.meta.url)),
      encoding: "utf8",
    },
  );
  if (error !== undefined) {
    return `Cannot record traces as Go does not run here (${error.message}). It is at https://go.dev/dl; ` +
      "the traces that are in the repository need none: deno task test";
  }
  return status === 0 ? undefined : `Cannot record traces:\n${stdout}${stderr}`;
}

/** Replays what was recorded and prints a line a family. Returns the number of differences. */
async function compare(directory: string): Promise<number> {
  const total = { traces: 0, operations: 0, differences: 0 };
  for (const family of families) {
    const { traces, operations, differences, exceptions } = await replay(
      pathToFileURL(`${directory}/`),
      family,
    );
    console.log(
      line(family, traces, operations, differences.length) + meant(exceptions),
    );
    for (const difference of differences.slice(0, SHOWN)) {
      console.log(`  ${difference}`);
    }
    total.traces += traces;
    total.operations += operations;
    total.differences += differences.length;
  }
  console.log(line("all", total.traces, total.operations, total.differences));
  return total.differences;
}

function line(
  family: string,
  traces: number,
  operations: number,
  differences: number,
): string {
  const count = (number: number, width: number) => number.toLocaleString("en").padStart(width);
  return `${family.padEnd(22)} ${count(traces, 7)} traces ${count(operations, 11)} operations ` +
    `${count(differences, 5)} differences`;
}

function meant(exceptions: ReadonlyMap<string, number>): string {
  return [...exceptions].map(([name, times]) => `; ${times.toLocaleString("en")} times on purpose: ${name}`).join("");
}

function readArguments(): { seed: number; traces: number } | string {
  const options = {
    seed: { type: "string", default: "1" },
    traces: { type: "string", default: "2400" },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const seed = Number(values.seed);
    const traces = Number(values.traces);
    if (!Number.isSafeInteger(seed) || seed < 0) {
      return `--seed must be a non-negative integer: received ${values.seed}`;
    }
    if (!Number.isSafeInteger(traces) || traces < 1) {
      return `--traces must be a positive integer: received ${values.traces}`;
    }
    return { seed, traces };
  } catch (error) {
    return (error as Error).message;
  }
}

async function main(): Promise<number> {
  const chosen = readArguments();
  if (typeof chosen === "string") {
    console.error(
      `${chosen}\nUsage: deno task conformance [--seed S] [--traces N]`,
    );
    return 2;
  }
  const directory = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    const problem = record(chosen.seed, chosen.traces, directory);
    if (problem !== undefined) {
      console.error(problem);
      return 1;
    }
    return await compare(directory) === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

process.exitCode = await main();
