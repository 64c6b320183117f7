/**
 * Measures what a million delayed keys cost in a file: bytes per key, the time to open the file in a new process and
 * take a due key, and the time of calls. Prints tables:
 *
 *     deno task bench:keys [--keys 1000,100000,1000000] [--pages]
 *
 * `--pages` also prints the tables and indexes of the file with their sizes.
 *
 * @module
 */

import { createSqliteQueue, type SqliteQueue } from "@workqueue/sqlite";
import { measure as measureCalls } from "mitata";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { percentileOf } from "../statistics.ts";

const SCRIPT = fileURLToPath(import.meta.url);
const CONFIG = fileURLToPath(new URL("../../deno.all.json", import.meta.url));
const HOUR = 3_600_000;
/** Number of keys that one call adds. */
const AT_ONCE = 500;
/** Number of calls of each kind that are measured. */
const CALLS = 500;
const OPENS = 7;

function open(path: string): SqliteQueue {
  return createSqliteQueue({ name: "queue", path, durability: "normal" });
}

/** Adds keys that are due in random order, one to two hours later. */
async function fill(queue: SqliteQueue, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => {
      return queue.addAfter(`image-${from + i}.jpg`, HOUR + Math.floor(HOUR * Math.random()));
    }));
  }
}

/** Opens the file and takes the due key. Prints the milliseconds until both. Then ends, or leaves a full log. */
async function openOnce(path: string, leavesLog: boolean): Promise<void> {
  const start = performance.now();
  const queue = open(path);
  const opened = performance.now();
  const lease = await queue.get();
  const taken = performance.now();
  if (lease.shutdown) throw new Error("The queue was shut down");
  await lease.finish();
  await queue.add("due"); // for the next process
  console.log(JSON.stringify({ open: opened - start, take: taken - start }));
  if (!leavesLog) return await queue.shutDownWithDrain();
  await fill(queue, 2 * AT_ONCE); // fills the log, which the next process must read
  process.kill(process.pid, "SIGKILL");
}

function openInProcess(path: string, leavesLog: boolean): { open: number; take: number } {
  const args = ["run", "-A", "--no-check", "--config", CONFIG, SCRIPT, "--open", path, ...leavesLog ? ["--kill"] : []];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Returns the median duration of a call, in milliseconds. One more call, the first, is not measured. */
async function median(call: (i: number) => Promise<unknown>, calls = CALLS): Promise<number> {
  let i = 0;
  const options = { min_samples: calls, max_samples: calls, warmup_samples: 0, gc: false };
  return (await measureCalls(() => call(i++), options)).p50 / 1e6;
}

function pagesOf(path: string): string {
  using database = new DatabaseSync(path);
  const sizes = database.prepare(
    "SELECT name, SUM(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 5",
  )
    .all() as { name: string; bytes: number }[];
  return sizes.map(({ name, bytes }) => `${name} ${(bytes / 1e6).toFixed(1)} MB`).join(", ");
}

async function measure(count: number, showsPages: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "workqueue-keys-"));
  const path = join(folder, "queue.db");
  try {
    const first = open(path);
    await first.counts();
    await first.shutDownWithDrain();
    const empty = statSync(path).size;
    const queue = open(path);
    await fill(queue, count);
    await queue.add("due");
    await queue.shutDownWithDrain();
    const bytes = (statSync(path).size - empty) / count;
    if (showsPages) console.log(`${count} keys: ${pagesOf(path)}`);

    const opens = Array.from({ length: OPENS }, () => openInProcess(path, false));
    const crashes = Array.from({ length: OPENS }, () => openInProcess(path, true)).slice(1);
    const p50 = (of: "open" | "take", runs: { open: number; take: number }[]) =>
      percentileOf(runs.map((r) => r[of]), 50);

    const again = open(path);
    const add = await median((i) => again.addAfter(`more-${i}.jpg`, HOUR + 1000 * i));
    const ready = await median((i) => again.add(`now-${i}.jpg`));
    const take = await median(async () => {
      const lease = await again.get();
      if (!lease.shutdown) await lease.finish();
    });
    const counts = await median(() => again.counts());
    const snapshot = await median(() => again.snapshot({ limit: 100 }), 20);
    await again.shutDownWithDrain();
    const numbers = [p50("open", opens), p50("take", opens), p50("open", crashes), p50("take", crashes)]
      .map((ms) => `${ms.toFixed(1)} ms`);
    const calls = [add, ready, take, counts, snapshot].map((ms) => `${ms.toFixed(2)} ms`);
    return `| ${[count.toLocaleString("en"), bytes.toFixed(0), ...numbers, ...calls].join(" | ")} |`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { values } = parseArgs({
  options: {
    keys: { type: "string", default: "1000,100000,1000000" },
    pages: { type: "boolean", default: false },
    open: { type: "string" },
    kill: { type: "boolean", default: false },
  },
});
if (values.open !== undefined) await openOnce(values.open, values.kill);
else {
  const heads = ["delayed keys", "bytes per key", "open", "open and take", "open after a kill", "and take"];
  const calls = ["addAfter", "add", "get and finish", "counts", "snapshot of 100"];
  const rows = [];
  for (const count of values.keys.split(",")) rows.push(await measure(Number(count), values.pages));
  console.log(`| ${[...heads, ...calls].join(" | ")} |\n|${" --- |".repeat(heads.length + calls.length)}`);
  for (const row of rows) console.log(row);
}
