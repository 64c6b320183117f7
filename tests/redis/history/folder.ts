/** Folder of the history of a queue: one file of JSON lines for each process that uses the queue. */

import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Engine } from "@workqueue/engine";
import type { Line, Write } from "./event.ts";
import { recordCalls } from "./record.ts";

/** Writers of this process, by queue. */
const writers = new Map<string, Write>();
/** Engines whose calls are recorded. */
const recorded = new WeakSet<Engine>();

/**
 * Records the calls of engines for a queue, in a file of the folder. Each line is written before the call is sent, so
 * that it is there if the process is killed. Returns a function that ends the recording.
 *
 * @param engines An engine, or the prototype of engines.
 * @param now The time in milliseconds. All processes must use the same clock, which is that of the machine by default.
 */
export function recordQueue(
  engines: Engine,
  queue: string,
  folder: string,
  now: () => number = Date.now,
): () => void {
  if (!recorded.has(engines)) recordCalls(engines, now, (queue) => writers.get(queue));
  recorded.add(engines);
  const file = openSync(join(folder, `${process.pid}.jsonl`), "a");
  writers.set(queue, (line) => void writeSync(file, `${JSON.stringify(line)}\n`));
  return () => {
    if (writers.delete(queue)) closeSync(file);
  };
}

export function createFolder(): string {
  return mkdtempSync(join(tmpdir(), "workqueue_history_"));
}

/** Returns the lines of each process. */
export function readFolder(folder: string): Line[][] {
  return readdirSync(folder).map((name) => {
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line)); // a killed process may leave half a line at the end
  });
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
