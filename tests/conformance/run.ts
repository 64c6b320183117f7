/**
 * Command that records traces of client-go and controller-runtime, and replays them. Recording needs Go:
 *
 *     deno task conformance --seed 7 --traces 20000
 *
 * With `--engine redis` or `--engine sqlite`, it replays the traces in `vectors/` on this engine, unless a seed or a
 * number of traces is given:
 *
 *     deno task conformance --engine sqlite
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
import { openReplays as openRedis } from "../redis/replay_store.ts";
import { RedisServer } from "../redis/server.ts";
import { openStore as openSqlite } from "../sqlite/model_store.ts";
import { engineFamilies, replayOnEngine } from "./engines/replay.ts";
import type { ReplayStore } from "./engines/store.ts";
import { families, replay, type Report } from "./replay.ts";

/** Number of differences shown per family. */
const SHOWN = 3;

/** Records traces with Go. Returns an error message if the recording fails. */
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
    return `Cannot record traces: Go is not installed (${error.message}). Install Go from https://go.dev/dl. ` +
      "To replay the traces in the repository, which does not require Go, run: deno task test";
  }
  return status === 0 ? undefined : `Cannot record traces:\n${stdout}${stderr}`;
}

/** Place where traces are replayed. */
interface Replayer {
  readonly families: readonly string[];
  replay(directory: URL, family: string): Promise<Report>;
}

/** Replays the recorded traces and prints one line per family. Returns the number of differences. */
async function compare(directory: URL, { families, replay }: Replayer): Promise<number> {
  const total = { traces: 0, operations: 0, differences: 0 };
  for (const family of families) {
    const { traces, operations, differences, exceptions } = await replay(directory, family);
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

const ENGINES = ["memory", "redis", "sqlite"] as const;
type EngineName = (typeof ENGINES)[number];

interface Arguments {
  readonly engine: EngineName;
  readonly seed: number;
  readonly traces: number;
  /** Whether to replay the traces in the repository instead of recording new ones. */
  readonly isRecorded: boolean;
}

function readArguments(): Arguments | string {
  const options = {
    engine: { type: "string", default: "memory" },
    seed: { type: "string" },
    traces: { type: "string" },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const engine = ENGINES.find((name) => name === values.engine);
    const seed = Number(values.seed ?? 1);
    const traces = Number(values.traces ?? 2400);
    if (engine === undefined) return `--engine must be one of ${ENGINES.join(", ")}, got ${values.engine}`;
    if (!Number.isSafeInteger(seed) || seed < 0) {
      return `--seed must be a non-negative integer, got ${values.seed}`;
    }
    if (!Number.isSafeInteger(traces) || traces < 1) {
      return `--traces must be a positive integer, got ${values.traces}`;
    }
    const isRecorded = engine !== "memory" && values.seed === undefined && values.traces === undefined;
    return { engine, seed, traces, isRecorded };
  } catch (error) {
    return (error as Error).message;
  }
}

/** Replays traces in memory or on an engine. For Redis, starts a server unless `WORKQUEUE_REDIS_URL` is set. */
async function compareOn(engine: EngineName, directory: URL): Promise<number> {
  if (engine === "memory") return await compare(directory, { families, replay });
  if (engine === "sqlite") return await compareIn(openSqlite(), directory);
  const given = process.env["WORKQUEUE_REDIS_URL"];
  await using server = given === undefined ? await RedisServer.start() : undefined;
  return await compareIn(await openRedis(given ?? server!.url), directory);
}

async function compareIn(opened: ReplayStore & AsyncDisposable, directory: URL): Promise<number> {
  await using store = opened;
  return await compare(directory, {
    families: engineFamilies,
    replay: (directory, family) => replayOnEngine(store, directory, family),
  });
}

async function main(): Promise<number> {
  const chosen = readArguments();
  if (typeof chosen === "string") {
    console.error(
      `${chosen}\nUsage: deno task conformance [--engine memory|redis|sqlite] [--seed S] [--traces N]`,
    );
    return 2;
  }
  const { engine, seed, traces, isRecorded } = chosen;
  if (isRecorded) return await compareOn(engine, new URL("vectors/", import.meta.url)) === 0 ? 0 : 1;
  const directory = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    const problem = record(seed, traces, directory);
    if (problem !== undefined) {
      console.error(problem);
      return 1;
    }
    return await compareOn(engine, pathToFileURL(`${directory}/`)) === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

process.exitCode = await main();
