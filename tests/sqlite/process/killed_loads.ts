/** Loads in processes that are killed at a write: at a statement, or at a system call. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onPath } from "../../keeper.ts";
import { START } from "../../contracts/engine_bench.ts";
import { seeded } from "../../redis/faults/seeded.ts";
import { check } from "../../redis/history/check.ts";
import type { Line } from "../../redis/history/event.ts";
import { createFolder, readFolder, removeFolder } from "../../redis/history/folder.ts";
import { type Load, LoadRun } from "../../redis/history/load.ts";
import { LOADS, rulesOf } from "../../redis/history/loads.ts";
import { allRuntimes } from "../../runtimes.ts";
import { FileStore } from "../faults/file_store.ts";
import { MEMORY } from "../files.ts";
import { unsound } from "../sound.ts";
import type { LoadArguments } from "./killed_load.ts";

const SCRIPT = fileURLToPath(new URL("killed_load.ts", import.meta.url));
/** Path of strace, which kills a process at a system call; `undefined` if it is not installed. */
export const STRACE: string | undefined = onPath("strace");
/** Time at which loads begin, in milliseconds since 1970. */
const ORIGIN = START / 1000;
/** System calls that SQLite makes for a file, and about how many of each a load makes. strace counts each by itself. */
const CALLS: readonly (readonly [name: string, count: number])[] = [
  ["pwrite64", 600],
  ["pwrite64", 600],
  ["pwrite64", 600],
  ["fsync,fdatasync", 30],
];
const STEPS = 60;
/** Number of statements that a load makes, about. */
const STATEMENTS = 400;
const ALL_LOADS: readonly Load[] = Object.values(LOADS).filter((load) => !("isBacklog" in load));

/** Names of the runtimes. */
export const RUNTIMES: readonly string[] = Object.keys(allRuntimes);

export interface KilledLoad {
  readonly seed: number;
  readonly runtime: string;
  /** Whether the process is killed at a system call, by strace, instead of at a statement. */
  readonly bySystem: boolean;
}

/** Result of a load. */
export interface Survived {
  readonly isKilled: boolean;
  readonly handOuts: number;
  /** Violations. */
  readonly wrong: readonly string[];
}

/** Runs a load in a process that is killed, and goes on with its file. */
export async function killedLoad({ seed, runtime, bySystem }: KilledLoad): Promise<Survived> {
  const random = seeded(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const chosen = ALL_LOADS[below(ALL_LOADS.length)]!;
  const load = { ...chosen, seed, steps: STEPS, engines: 1 + below(3), atOnce: 1 + below(4), isSteady: true };
  const folder = mkdtempSync(join(MEMORY, "workqueue-killed-"));
  const histories = createFolder();
  const path = join(folder, "queue.db");
  const args: LoadArguments = {
    path,
    history: join(histories, "killed.jsonl"),
    load,
    ...!bySystem && { statements: below(STATEMENTS), isAfter: below(2) === 0 },
  };
  const command = [...await allRuntimes[runtime]!(), SCRIPT, JSON.stringify(args)];
  const files = ["", "-wal", "-journal"].flatMap((suffix) => ["-P", path + suffix]);
  const [calls, count] = CALLS[below(CALLS.length)]!;
  const inject = `inject=${calls}:signal=SIGKILL:when=${1 + below(count)}`;
  const tracer = [STRACE!, "-f", "-qqq", "-o", "/dev/null", ...files, "-e", `trace=${calls}`, "-e", inject];
  const [program, ...rest] = bySystem ? [...tracer, ...command] : command;
  const child = spawn(program!, rest, { stdio: ["ignore", "inherit", "inherit"] });
  const [code, signal] = await once(child, "exit") as [number | null, string | null];
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The process ended with ${signal ?? code}`);

  const before = readFolder(histories);
  const wrong = unsound(path).map((each) => `after the crash: ${each}`);
  const store = new FileStore(path, 1);
  const run = new LoadRun("queue", load);
  const lines: Line[] = [];
  run.begin(store, (line) => lines.push(line), Math.max(0, ...before.flat().map(({ at }) => at)) - ORIGIN + 1000);
  await run.drain();
  const givenUp = await run.givenUp();
  await store.close();
  wrong.push(...unsound(path).map((each) => `at the end: ${each}`));
  const verdict = check([...before, lines], { ...rulesOf(load), givenUp });
  wrong.push(...verdict.wrong.map((each) => each.join(": ")));
  removeFolder(histories);
  rmSync(folder, { recursive: true });
  return { isKilled: signal === "SIGKILL", handOuts: verdict.handOuts, wrong };
}
