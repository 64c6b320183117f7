/** Runs one part of the tests, and reads the results from its output. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stdout } from "node:process";
import type { Part } from "./parts.ts";

const ROOT = new URL("..", import.meta.url);

/** End of a part. */
export interface Result {
  readonly part: Part;
  readonly success: boolean;
  readonly output: string;
  readonly seconds: number;
  /** Seconds that each test file took, if the part lists its files in its output. */
  readonly files: ReadonlyMap<string, number>;
}

/** Numbers of tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly leftOut: number;
}

const running = new Set<Deno.ChildProcess>();
const HAS_GROUPS = Deno.build.os !== "windows";
/** Longest time of a part, in minutes. A part that hangs fails then, and its output shows which tests have ended. */
const LIMIT_MINUTES = 40;
/** Longest time for which processes may hold the output of a part that has ended, in milliseconds. */
const GRACE = 30_000;

/** Kills all running parts, and the processes that their tests have started. */
export function killParts(): void {
  for (const child of running) killPart(child);
}

/** Kills a part and the processes that its tests have started, of which some may be left after the part has ended. */
function killPart(child: Deno.ChildProcess): void {
  try {
    if (HAS_GROUPS) Deno.kill(-child.pid, "SIGKILL");
    else child.kill();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // all of them have ended
  }
}

/**
 * Runs one part to its end.
 *
 * @param packed The folder in which all parts keep packed packages.
 * @param isShown Whether to print the output of the part as it comes.
 */
export async function runPart(part: Part, packed: string, isShown: boolean): Promise<Result> {
  const begin = performance.now();
  const [command, ...args] = part.args;
  const junit = join(packed, `${part.name}.xml`);
  const child = new Deno.Command(Deno.execPath(), {
    args: [command!, ...(command === "test" ? [`--junit-path=${junit}`] : []), ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", WORKQUEUE_PACKED: packed, ...part.jobs !== undefined && { DENO_JOBS: `${part.jobs}` } },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: HAS_GROUPS, // a process group of its own
  }).spawn();
  running.add(child);
  let isTooLong = false;
  const limit = setTimeout(() => {
    isTooLong = true;
    killPart(child);
  }, LIMIT_MINUTES * 60_000);
  const seconds = () => (performance.now() - begin) / 1000;
  const times = new FileTimes();
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      times.read(text, seconds());
      if (isShown) stdout.write(text);
    }
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  const { success, signal } = await child.status;
  const grace = setTimeout(() => {
    output += `\n${part.name} left processes behind, which are killed now\n`;
    killPart(child);
  }, GRACE);
  await reading;
  clearTimeout(grace);
  clearTimeout(limit);
  if (isTooLong) output += `\n${part.name} did not end within ${LIMIT_MINUTES} minutes\n`;
  else if (signal !== null) output += `\n${part.name} was ended by ${signal}\n`;
  running.delete(child);
  const files = command === "test" ? timesIn(junit) : times.end(seconds());
  return { part, success, output, seconds: seconds(), files };
}

/**
 * Times of test files, from the lines with which Bun begins a file: `tests/a_test.ts:`. A file's time ends with the
 * first line of the next file, so it includes loading that file.
 */
class FileTimes {
  readonly #times = new Map<string, number>();
  #file: string | undefined;
  #began = 0;

  /** Reads output that came after this number of seconds. */
  read(text: string, seconds: number): void {
    for (const [, file] of text.matchAll(/^(tests\/\S+_test\.ts):$/gm)) {
      this.#endFile(seconds);
      this.#file = file;
      this.#began = seconds;
    }
  }

  end(seconds: number): ReadonlyMap<string, number> {
    this.#endFile(seconds);
    return this.#times;
  }

  #endFile(seconds: number): void {
    if (this.#file === undefined) return;
    this.#times.set(this.#file, (this.#times.get(this.#file) ?? 0) + seconds - this.#began);
    this.#file = undefined;
  }
}

/**
 * Returns the times of test files, from the report of a test run in the format of JUnit, which names the file of each
 * test. There is no report if the run stopped early. A file's time is the sum of its tests.
 */
function timesIn(report: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  if (!existsSync(report)) return times;
  for (const [, file, time] of readFileSync(report, "utf8").matchAll(/ classname="\.\/([^"]+)" time="([\d.]+)"/g)) {
    times.set(file!, (times.get(file!) ?? 0) + Number(time));
  }
  return times;
}

/**
 * Returns the counts in the summary that a test run printed. For example, Deno prints `ok | 12 passed | 0 failed | 1
 * ignored (2s)`, Bun prints ` 12 pass`, ` 1 skip` and ` 0 fail`, and Node prints `ℹ pass 12`.
 */
export function countsIn(output: string): Counts | undefined {
  const last = (pattern: RegExp) => Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
  const deno = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed(?: \| (\d+) ignored)?/gm;
  const [, passed, failed, ignored = 0] = [...output.matchAll(deno)].at(-1) ?? [];
  if (passed !== undefined) return { passed: Number(passed), failed: Number(failed), leftOut: Number(ignored) };
  if (/^ℹ pass \d+$/m.test(output)) {
    return { passed: last(/^ℹ pass (\d+)$/gm), failed: last(/^ℹ fail (\d+)$/gm), leftOut: last(/^ℹ skipped (\d+)$/gm) };
  }
  if (!/^ *\d+ pass$/m.test(output)) return undefined;
  return { passed: last(/^ *(\d+) pass$/gm), failed: last(/^ *(\d+) fail$/gm), leftOut: last(/^ *(\d+) skip$/gm) };
}
