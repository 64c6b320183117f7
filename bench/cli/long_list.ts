/** Memory use with a long list, and the speed at the end of the list compared with the speed of a fresh run. */

import { medianOf } from "../statistics.ts";
import type { Contender } from "./contenders.ts";
import { List } from "./list.ts";
import { argumentOf } from "./throughput.ts";

/** Results for one long list. */
export interface LongRun {
  readonly runtime: Contender["runtime"];
  /** Median rate at the end of the list, in items per second. */
  readonly end: number;
  /** Median rate of the fresh runs, in items per second. */
  readonly fresh: number;
  /** Rate at the end of the list divided by the rate of a fresh run, as the median of all comparisons. */
  readonly steadiness: number;
  /** Peak memory of the process, excluding its children, in bytes; `undefined` if the system does not report it. */
  readonly memory: number | undefined;
  readonly minutes: number;
}

/** Number of times that the rate near the end of the list is compared with the rate of a fresh run. */
const TURNS = 7;
/** Fraction of the list that is measured in one comparison. */
const TURN = 1 / 200;
/** Minimum number of lines that are measured in one comparison. */
const LEAST = 10;
/**
 * Number of lines that a fresh run has in addition to the measured lines. A fresh run is measured from the time at
 * which it finishes its first line.
 */
const FIRST = 20;
const LINE_FEED = 0x0a;

/**
 * Runs `echo` for each line and counts the lines of its output. The speed of the machine may vary. So near the end of
 * the list, the run is paused several times, and during each pause a fresh run processes the same number of lines.
 */
export async function measureLongRun(contender: Contender, concurrency: number, list: List): Promise<LongRun> {
  const start = performance.now();
  const command = [...contender.command(concurrency), "echo", ...argumentOf(contender)];
  const long = new Running(command, list);
  const lines = Math.max(LEAST, Math.ceil(list.length * TURN));
  await long.until(list.length - lines * (TURNS + 1));
  const turns: { end: number; fresh: number }[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const end = await long.rate(lines);
    long.stop();
    const fresh = await rateOfFresh(command, lines);
    long.goOn();
    turns.push({ end, fresh });
  }
  const memory = await long.peakMemory();
  await long.finish(list.length);
  return {
    runtime: contender.runtime,
    end: medianOf(turns.map(({ end }) => end)),
    fresh: medianOf(turns.map(({ fresh }) => fresh)),
    steadiness: medianOf(turns.map(({ end, fresh }) => end / fresh)),
    memory,
    minutes: (performance.now() - start) / 60_000,
  };
}

/**
 * Returns the rate of a fresh run, in items per second, measured from the time at which the run finishes its first
 * line.
 */
async function rateOfFresh(command: readonly string[], lines: number): Promise<number> {
  using list = new List(FIRST + lines);
  const fresh = new Running(command, list);
  await fresh.until(1);
  const rate = await fresh.rate(lines);
  await fresh.finish(list.length);
  return rate;
}

/** Running process that prints one line for each finished line of the list. */
class Running {
  /** Number of finished lines. */
  done = 0;
  readonly #command: readonly string[];
  readonly #process: Deno.ChildProcess;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;

  constructor(command: readonly string[], list: List) {
    this.#command = command;
    this.#process = list.start(command, "piped");
    this.#output = this.#process.stdout.getReader();
  }

  /** Resolves when `lines` lines are finished. */
  async until(lines: number): Promise<void> {
    while (this.done < lines) {
      const { value, done } = await this.#output.read();
      if (done) throw this.#error(lines);
      for (const byte of value) if (byte === LINE_FEED) this.done++;
    }
  }

  /** Waits until `lines` more lines are finished. Returns the rate of these lines, in items per second. */
  async rate(lines: number): Promise<number> {
    const before = this.done;
    const start = performance.now();
    await this.until(before + lines);
    return (this.done - before) * 1000 / (performance.now() - start);
  }

  stop(): void {
    this.#process.kill("SIGSTOP");
  }

  goOn(): void {
    this.#process.kill("SIGCONT");
  }

  async peakMemory(): Promise<number | undefined> {
    const status = await Deno.readTextFile(`/proc/${this.#process.pid}/status`).catch(() => "");
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    return peak === undefined ? undefined : Number(peak) * 1024;
  }

  /** Waits until the process has finished `lines` lines and ended. */
  async finish(lines: number): Promise<void> {
    await this.until(lines);
    const { success } = await this.#process.status;
    if (!success) throw this.#error(lines);
    await this.#output.cancel();
  }

  #error(lines: number): Error {
    return new Error(`${this.#command.join(" ")} failed, with ${this.done} of ${lines} lines done`);
  }
}
