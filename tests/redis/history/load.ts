/** Random load on an engine, under a clock that the load sets. Processes crash, stand still and lose replies. */

import type { AttemptBucket, DisciplinePlan, Engine, Finish, FinishKind } from "@workqueue/engine";
import { type DisciplineConfig, disciplines, type RetryBudgetOptions } from "@workqueue/core";
import { planDiscipline } from "../../../packages/engine/discipline_plan.ts";
import { seeded } from "../faults/seeded.ts";
import { START } from "../../contracts/engine_bench.ts";
import { uniqueName } from "../unique_name.ts";
import type { Line } from "./event.ts";
import { QueueTime } from "./queue_time.ts";
import { recordCalls } from "./record.ts";

/** Lease duration, in milliseconds. */
const LEASE = 3000;
const GROUPS = ["a", "b", "c"];
const KINDS: readonly FinishKind[] = [
  "succeeded",
  "succeeded",
  "done",
  "retry",
  "failed",
  "handedBack",
  "requeueAfter",
];

/** Settings of a load. */
export interface Load {
  readonly seed: number;
  readonly steps: number;
  readonly discipline?: DisciplineConfig;
  readonly bucket?: AttemptBucket;
  readonly retryBudget?: RetryBudgetOptions;
  /** Whether the queue and its groups are paused at times. */
  readonly hasPauses?: boolean;
  /** Whether all keys are added before the first one is taken, and nothing fails. */
  readonly isBacklog?: boolean;
  /** Whether few keys are ready, because few are added, and most of them are delayed. */
  readonly isDelayed?: boolean;
  /** Factor for the number of keys in each call, and for the rate of the bucket. 1 by default. */
  readonly size?: number;
}

/** Settings of the queue of a load. */
export interface LoadSettings {
  readonly leaseDuration: number;
  readonly discipline: DisciplinePlan | undefined;
  readonly retryBudget: RetryBudgetOptions | undefined;
}

/** Store of a queue whose clock the load sets. */
export interface LoadStore {
  /** Opens a queue. `clock` returns the time of the store, in microseconds. */
  engine(name: string, clock: () => number, settings: LoadSettings): Engine;
  /** Removes the stored data of a queue. */
  clear(name: string): Promise<void>;
}

/** Process that takes keys. A process that crashed or lost its leases goes on under another name. */
interface Process {
  owner: string;
  readonly held: { key: string; token: string }[];
  renewedAt: number;
  /** Time until which the process stands still. */
  stillUntil: number;
}

/** Runs a load until the queue is idle. Returns the history. */
export async function runLoad(store: LoadStore, load: Load): Promise<Line[]> {
  const name = uniqueName("load");
  try {
    return await new Run(store, name, load).run();
  } finally {
    await store.clear(name);
  }
}

class Run {
  readonly #lines: Line[] = [];
  readonly #random: () => number;
  readonly #engine: Engine;
  readonly #load: Load;
  readonly #size: number;
  readonly #processes: Process[] = [];
  /** Tokens of the past, which no longer count. */
  readonly #past: { key: string; token: string }[] = [];
  /** Time since the start, in milliseconds. */
  #now = 0;
  /** Time by which the server's clock was set back, in milliseconds. */
  #setBack = 0;
  #owners = 0;
  #keys = 0;

  constructor(store: LoadStore, name: string, load: Load) {
    this.#load = load;
    this.#size = load.size ?? 1;
    this.#random = seeded(load.seed);
    const { discipline, retryBudget } = load;
    const time = () => Math.floor(START + (this.#now - this.#setBack) * 1000);
    const queueTime = new QueueTime();
    this.#engine = store.engine(name, () => queueTime.read(time()), {
      leaseDuration: LEASE,
      discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
      retryBudget,
    });
    recordCalls(this.#engine, () => queueTime.at(time()) / 1000, () => (line) => this.#lines.push(line));
    for (let i = 0; i < 3; i++) this.#processes.push(this.#start());
  }

  async run(): Promise<Line[]> {
    const { steps, isBacklog = false } = this.#load;
    if (isBacklog) {
      for (let i = 0; i < steps; i++) await this.#add();
    } else {
      for (let i = 0; i < steps; i++) await this.#step();
    }
    await this.#drain();
    return this.#lines;
  }

  async #step(): Promise<void> {
    await this.#pass(3 + this.#below(30));
    const process = this.#processes[this.#below(this.#processes.length)]!;
    if (this.#load.hasPauses && this.#below(10) === 0) return await this.#pauseSome();
    const choice = this.#below(100);
    if (choice < 30) return this.#load.isDelayed && choice < 20 ? undefined : await this.#add();
    if (choice < 34) return void await this.#engine.cancelDelayed(this.#key());
    if (choice < 38) return void await this.#engine.promoteDelayed(this.#key());
    if (process.stillUntil > this.#now) return;
    if (choice < 82) return await this.#turn(process, this.#below(4 * this.#size));
    if (choice < 86) return await this.#finishPast();
    if (choice < 90) return await this.#loseReply(process);
    if (choice < 92) return this.#crash(process);
    if (choice < 94) return void (process.stillUntil = this.#now + this.#below(3 * LEASE));
    if (choice < 96) return await this.#leave(process);
    if (choice < 98) return await this.#pass(this.#below(LEASE));
    this.#setBack += 1000 + this.#below(100_000);
  }

  async #pauseSome(): Promise<void> {
    const group = GROUPS[this.#below(GROUPS.length)]!;
    const choice = this.#below(6);
    if (choice === 0) await this.#engine.pauseUntil(this.#below(LEASE));
    else if (choice === 1) await this.#engine.resume();
    else if (choice > 2) await this.#engine.pauseGroup(group, this.#below(LEASE));
    else await this.#engine.resumeGroup(group);
  }

  async #add(): Promise<void> {
    if (this.#load.isBacklog) await this.#pass(3);
    const entries = Array.from({ length: this.#load.isBacklog ? 1 : 1 + this.#below(2 * this.#size) }, () => {
      const isDelayed = !this.#load.isBacklog && this.#below(4) < (this.#load.isDelayed ? 3 : 1);
      const priority = this.#load.discipline === undefined ? 0 : this.#below(4);
      return { key: this.#key(), payload: "", delay: isDelayed ? 20 + this.#below(400) : 0, priority };
    });
    if (this.#load.discipline !== undefined) await this.#engine.addEach(entries);
    else for (const { delay, ...entry } of entries) await this.#engine.add([entry], delay);
  }

  async #turn(process: Process, wanted: number, finishes = this.#someFinishes(process)): Promise<void> {
    const { owner, held } = process;
    const { bucket } = this.#load;
    const throttle = bucket && { ...bucket, rate: bucket.rate * this.#size };
    const reply = await this.#engine.turn({ process: owner, owner, known: held.length, wanted, throttle, finishes });
    this.#past.push(...finishes.map(({ key, token }) => ({ key, token })));
    if (reply.isLost) this.#crash(process);
    process.held.push(...reply.taken);
    if (reply.taken.length > 0) process.renewedAt = this.#now;
  }

  /** Returns finishes of some of the keys of a process, which it doesn't have from now on. */
  #someFinishes(process: Process, kinds = KINDS): Finish[] {
    const count = Math.min(process.held.length, this.#below(3 * this.#size));
    return process.held.splice(0, count).map(({ key, token }) => {
      const kind = kinds[this.#below(kinds.length)]!;
      return { key, token, kind, given: "", reason: kind === "failed" ? "no" : "", delay: 0 };
    });
  }

  async #finishPast(): Promise<void> {
    const past = this.#past[this.#below(this.#past.length)];
    const finishes = past === undefined ? [] : [{ ...past, kind: "succeeded" as const }];
    await this.#turn({ owner: "late", held: [], renewedAt: 0, stillUntil: 0 }, 0, finishes);
  }

  async #loseReply(process: Process): Promise<void> {
    const known = process.held.slice();
    await this.#turn(process, 2 * this.#size);
    const isKept = process.held.slice(0, known.length).every(({ token }, i) => token === known[i]?.token);
    if (!isKept) return; // it has another name now
    process.held.splice(known.length);
    await this.#engine.release(process.owner, process.held.map(({ token }) => token));
  }

  async #leave(process: Process): Promise<void> {
    await this.#engine.leave(process.owner, process.owner);
    this.#crash(process);
  }

  #crash(process: Process): void {
    this.#past.push(...process.held.splice(0));
    Object.assign(process, this.#start());
  }

  #start(): Process {
    return { owner: `owner ${++this.#owners}`, held: [], renewedAt: this.#now, stillUntil: 0 };
  }

  async #drain(): Promise<void> {
    for (const process of this.#processes) process.stillUntil = 0;
    for (let round = 0; round < 400 * this.#size; round++) {
      await this.#pass(50);
      for (const process of this.#processes) {
        await this.#turn(process, 2 * this.#size, this.#someFinishes(process, ["succeeded"]));
      }
      if (round % 10 !== 0) continue;
      const { ready, blocked, delayed, processing } = await this.#engine.counts();
      if (ready + blocked + delayed + processing === 0) return;
    }
  }

  /** Lets time pass, in which processes renew their leases. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= LEASE / 10) {
      this.#now += Math.min(left, LEASE / 10);
      for (const process of this.#processes) {
        if (process.stillUntil > this.#now || this.#now - process.renewedAt < LEASE / 3) continue;
        process.renewedAt = this.#now;
        await this.#engine.renew(process.owner);
      }
    }
  }

  /** Returns a key: one of a few, or a new one. */
  #key(): string {
    const group = GROUPS[this.#below(GROUPS.length)];
    return this.#load.isBacklog || this.#below(2) === 0
      ? `${group}/new ${++this.#keys}`
      : `${group}/${this.#below(6 * this.#size)}`;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
