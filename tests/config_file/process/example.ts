/** Runs the example as a process on any runtime, and changes the config file while the example runs. */

import { assert } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Folder } from "../folder.ts";

const FILE = new URL("../../../examples/live_limits.yaml", import.meta.url);

/** Timeout in milliseconds, in case the expected output never comes. */
const DEADLINE = 120_000;

/**
 * Edits to the file. Each edit has the line that reports the change, and a function that recognizes a line that only
 * the new config can cause.
 */
const EDITS: { from: RegExp; to: string; reported: string; does: (line: string) => boolean }[] = [
  {
    from: /rate: 2\b/,
    to: "rate: 50",
    reported: "/queues/demo/throttle/rate: 2 → 50",
    does: (line) => atOnce(line) > 2, // each attempt takes half a second
  },
  {
    from: /concurrency: 4\b/,
    to: "concurrency: 12",
    reported: "/queues/demo/concurrency: 4 → 12",
    does: (line) => atOnce(line) > 4,
  },
  {
    from: /baseDelay: 2s\b/,
    to: "baseDelay: 20ms",
    reported: "/queues/demo/limiter/baseDelay: 2000 → 20",
    does: (line) => Number(/ attempt \d+ after (\d+) ms/.exec(line)?.[1]) < 2000,
  },
];

function atOnce(line: string): number {
  return Number(/ (\d+) at once$/.exec(line)?.[1] ?? 0);
}

/**
 * Runs the example with a command and edits its config file. Returns the milliseconds until each change was reported.
 */
export async function tryExample(command: readonly string[]): Promise<number[]> {
  using folder = new Folder();
  const file = folder.write("limits.yaml", readFileSync(FILE));
  const child = spawn(command[0]!, [...command.slice(1), file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    return await editWhile(child, file);
  } finally {
    const ended = once(child, "close");
    child.kill();
    await ended;
  }
}

async function editWhile(child: ChildProcess, file: string): Promise<number[]> {
  const timer = setTimeout(() => child.kill(), DEADLINE);
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const find = async (isIt: (line: string) => boolean, what: string) => {
    for (let said = await lines.next(); !said.done; said = await lines.next()) if (isIt(said.value)) return;
    throw new Error(`The example ended before ${what}`);
  };
  const times: number[] = [];
  await find((line) => line.endsWith("item 3, 1 at once") || line.endsWith("item 3, 2 at once"), "its third item");
  for (const { from, to, reported, does } of EDITS) {
    const text = readFileSync(file, "utf8");
    assert(from.test(text), `${from}`);
    const before = performance.now();
    writeFileSync(file, text.replace(from, to));
    await find((line) => line.endsWith(reported), `it reported "${reported}"`);
    times.push(performance.now() - before);
    await find(does, `it did so: "${reported}"`);
  }
  clearTimeout(timer);
  return times;
}
