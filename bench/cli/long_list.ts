/**
 * Whether a long list is worked through as fast at its end as a short one is from its start, and in how much memory.
 */

import { medianOf } from "../figures.ts";
import type { Contender } from "./contenders.ts";
import { List } from "./list.ts";
import { argumentOf } from "./throughput.ts";

/** What a long list took. */
export interface LongRun {
  readonly runtime: Contender["runtime"];
  /** Items a second at its end, and those of runs that have just begun: the medians. */
  readonly end: number;
  readonly fresh: number;
  /** How many times as fast it was at its end: the median of the turns. */
  readonly steadiness: number;
  /** The most memory that the process itself ever had, in bytes; `undefined` where the system does not tell. */
  readonly memory: number | undefined;
  readonly minutes: number;
}

/** How often the run is compared with a fresh one, at the end of the list. */
const TURNS = 7;
/** The part of the list that one turn does, and how many lines at least. */
const TURN = 1 / 200;
const LEAST = 10;
/** How many lines more a fresh run has, as it is measured from its first one on. */
const FIRST = 20;
const LINE_FEED = 0x0a;

/**
 * Runs `echo` for each line, whose output tells how many are done. As a machine may be slower at one time than at
 * another, the run is stopped now and then at its end, while a fresh one does as many lines.
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

/** The rate of a run that has begun, and has done its first line. */
async function rateOfFresh(command: readonly string[], lines: number): Promise<number> {
  using list = new List(FIRST + lines);
  const fresh = new Running(command, list);
  await fresh.until(1);
  const rate = await fresh.rate(lines);
  await fresh.finish(list.length);
  return rate;
}

/** A command that prints one line for each that it has done. */
class Running {
  /** How many lines are done. */
  done = 0;
  readonly #command: readonly string[];
  readonly #process: Deno.ChildProcess;
  readonly #output: ReadableStreamDefaultReader<Uint8Array>;

  constructor(command: readonly string[], list: List) {
    this.#command = command;
    this.#process = list.start(command, "piped");
    this.#output = this.#process.stdout.getReader();
  }

  /** Resolves when so many lines are done. */
  async until(lines: number): Promise<void> {
    while (this.done < lines) {
      const { value, done } = await this.#output.read();
      if (done) throw this.#error(lines);
      for (const byte of value) if (byte === LINE_FEED) this.done++;
    }
  }

  /** Does so many more. Gives how many a second it did meanwhile. */
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

  /** Waits for the end, when so many lines have to be done. */
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
