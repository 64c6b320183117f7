/**
 * Command that records traces of client-go and controller-runtime, and replays them. Recording needs Go:
 *
 *     deno task conformance --seed 7 --traces 20000
 *
 * With `--engine redis`, it replays the traces in `vectors/` on Redis, unless a seed or a number of traces is given:
 *
 *     deno task conformance --engine redis
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
import { redisFamilies, replayOnRedis } from "../redis/replay/replay.ts";
import { RedisServer } from "../redis/server.ts";
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

/** Engine on which traces are replayed. */
interface Engine {
  readonly families: readonly string[];
  replay(directory: URL, family: string): Promise<Report>;
}

/** Replays the recorded traces and prints one line per family. Returns the number of differences. */
async function compare(directory: URL, engine: Engine): Promise<number> {
  const total = { traces: 0, operations: 0, differences: 0 };
  for (const family of engine.families) {
    const { traces, operations, differences, exceptions } = await engine.replay(directory, family);
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

interface Arguments {
  readonly engine: "memory" | "redis";
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
    const { engine } = values;
    const seed = Number(values.seed ?? 1);
    const traces = Number(values.traces ?? 2400);
    if (engine !== "memory" && engine !== "redis") return `--engine must be memory or redis, got ${engine}`;
    if (!Number.isSafeInteger(seed) || seed < 0) {
      return `--seed must be a non-negative integer, got ${values.seed}`;
    }
    if (!Number.isSafeInteger(traces) || traces < 1) {
      return `--traces must be a positive integer, got ${values.traces}`;
    }
    const isRecorded = engine === "redis" && values.seed === undefined && values.traces === undefined;
    return { engine, seed, traces, isRecorded };
  } catch (error) {
    return (error as Error).message;
  }
}

/** Replays traces in memory or on Redis. For Redis, starts a server unless `WORKQUEUE_REDIS_URL` is set. */
async function compareOn(engine: "memory" | "redis", directory: URL): Promise<number> {
  if (engine === "memory") return await compare(directory, { families, replay });
  const given = process.env["WORKQUEUE_REDIS_URL"];
  await using server = given === undefined ? await RedisServer.start() : undefined;
  const url = given ?? server!.url;
  return await compare(directory, {
    families: redisFamilies,
    replay: (directory, family) => replayOnRedis(url, directory, family),
  });
}

async function main(): Promise<number> {
  const chosen = readArguments();
  if (typeof chosen === "string") {
    console.error(
      `${chosen}\nUsage: deno task conformance [--engine memory|redis] [--seed S] [--traces N]`,
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
