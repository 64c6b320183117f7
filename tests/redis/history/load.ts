/** Random load on an engine, under a clock that the load sets. Processes crash, stand still and lose replies. */

import type { AttemptBucket, DisciplinePlan, Engine, Finish, FinishKind, TakenKey } from "@workqueue/engine";
import { type DisciplineConfig, disciplines, type RetryBudgetOptions } from "@workqueue/core";
import { planDiscipline } from "../../../packages/engine/discipline_plan.ts";
import { seeded } from "../faults/seeded.ts";
import { addRateLimited, asked, START } from "../../contracts/engine_bench.ts";
import { uniqueName } from "../unique_name.ts";
import type { Line, Write } from "./event.ts";
import { QueueTime } from "./queue_time.ts";
import { recordCalls } from "./record.ts";

/** Lease duration, in milliseconds. */
const LEASE = 3000;
const GROUPS = ["a", "b", "c"];
/** Disciplines by type. A discipline of the core without an entry doesn't compile. */
const DISCIPLINES: Readonly<Record<DisciplineConfig["type"], readonly DisciplineConfig[]>> = {
  priority: [{ type: "priority", min: 0, max: 3, maxHeadStart: "unlimited" }],
  fair: [
    { type: "fair", separator: "/", maxPerGroup: 1 },
    { type: "fair", separator: "/", ratePerGroup: { rate: 10, burst: 2 } },
  ],
};
/** Disciplines of a queue whose order changes. A queue keeps its order if there is none. */
const ORDERS: readonly (DisciplineConfig | undefined)[] = [undefined, ...Object.values(DISCIPLINES).flat()];
/** Relative frequency of each outcome. An outcome without a number doesn't compile. */
const FINISHES: Readonly<Record<FinishKind, number>> = {
  succeeded: 2,
  done: 1,
  retry: 1,
  failed: 1,
  handedBack: 1,
  requeueAfter: 1,
  givenUp: 2,
};
const ALL_KINDS: readonly FinishKind[] = Object.entries(FINISHES)
  .flatMap(([kind, count]) => Array.from({ length: count }, () => kind as FinishKind));
const KINDS: readonly FinishKind[] = ALL_KINDS.filter((kind) => kind !== "givenUp");

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
  /** Whether keys are given up and redriven, and the order of the queue changes. */
  readonly hasGiveUps?: boolean;
  /** Whether the clock is never set back. */
  readonly isSteady?: boolean;
  /** Number of steps that run at once, so that their calls may share transactions. 1 by default. */
  readonly atOnce?: number;
  /** Number of engines, which the processes use by turns. 1 by default. */
  readonly engines?: number;
  /** Whether calls may fail. A process whose call fails crashes. */
  readonly mayFail?: boolean;
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
  readonly held: Pick<TakenKey, "key" | "token" | "failures">[];
  /** Time of the last renewal, in milliseconds since the start. */
  renewedAt: number;
  /** Time until which the process makes no calls, in milliseconds since the start. */
  stillUntil: number;
  /** Whether a call of the process runs. */
  isBusy: boolean;
}

/** Runs a load. Returns its history. */
export async function runLoad(store: LoadStore, load: Load): Promise<Line[]> {
  const name = uniqueName("load");
  const lines: Line[] = [];
  try {
    const run = new LoadRun(name, load);
    run.begin(store, (line) => lines.push(line));
    await run.work();
    await run.drain();
    return lines;
  } finally {
    await store.clear(name);
  }
}

/** Run of a load. */
export class LoadRun {
  readonly #random: () => number;
  readonly #name: string;
  readonly #load: Load;
  readonly #size: number;
  readonly #queueTime = new QueueTime();
  readonly #processes: Process[] = [];
  #store: LoadStore | undefined;
  #write: Write = () => {};
  #engines: Engine[] = [];
  /** Tokens of the past, which no longer count. */
  readonly #past: { key: string; token: string }[] = [];
  /** Time since the start, in milliseconds. */
  #now = 0;
  /** Time by which the server's clock was set back, in milliseconds. */
  #setBack = 0;
  #owners = 0;
  #keys = 0;

  constructor(name: string, load: Load) {
    this.#name = name;
    this.#load = load;
    this.#size = load.size ?? 1;
    this.#random = seeded(load.seed);
    for (let i = 0; i < 3; i++) this.#processes.push(this.#start());
  }

  /**
   * Opens the store, or another one that has its data, after all processes have crashed.
   *
   * @param write The function that writes the lines of the history from now on.
   * @param ms The time that has passed since then, in milliseconds.
   */
  begin(store: LoadStore, write: Write, ms = 0): void {
    this.#store = store;
    this.#write = write;
    this.#now += ms;
    this.#open(this.#load.discipline);
    for (const process of this.#processes) this.#crash(process);
    this.#past.length = 0;
  }

  /** Opens engines, which put a discipline in force. */
  #open(discipline: DisciplineConfig | undefined): void {
    const { engines = 1, retryBudget } = this.#load;
    const write = this.#write;
    this.#engines = Array.from({ length: engines }, () => {
      const engine = this.#store!.engine(this.#name, () => this.#queueTime.read(this.#time), {
        leaseDuration: LEASE,
        discipline: discipline && planDiscipline("test", disciplines.describe(discipline)),
        retryBudget,
      });
      recordCalls(engine, () => this.#queueTime.at(this.#time) / 1000, () => write);
      return engine;
    });
  }

  get #time(): number {
    return Math.floor(START + (this.#now - this.#setBack) * 1000);
  }

  /** Engine of the next call. */
  get #engine(): Engine {
    return this.#engines.length === 1 ? this.#engines[0]! : this.#engines[this.#below(this.#engines.length)]!;
  }

  /** Does the steps of the load. */
  async work(): Promise<void> {
    const { steps, isBacklog = false, atOnce = 1 } = this.#load;
    for (let i = 0; i < steps; i += atOnce) {
      if (isBacklog) await this.#add();
      else await this.#step();
    }
  }

  async #step(): Promise<void> {
    await this.#pass(3 + this.#below(30));
    const { atOnce = 1 } = this.#load;
    await Promise.all(Array.from({ length: atOnce }, async () => {
      const process = this.#processes[this.#below(this.#processes.length)]!;
      await this.#try(process.isBusy ? this.#start() : process);
    }));
  }

  /** Makes a call of a process. */
  async #try(process: Process): Promise<void> {
    process.isBusy = true;
    try {
      await this.#act(process);
    } catch (error) {
      if (!this.#load.mayFail) throw error;
      this.#crash(process);
    } finally {
      process.isBusy = false;
    }
  }

  async #act(process: Process): Promise<void> {
    if (this.#load.hasPauses && this.#below(10) === 0) return await this.#pauseSome();
    if (this.#load.hasGiveUps && this.#below(10) === 0) return await this.#changeSome();
    const choice = this.#below(100);
    if (choice < 30) return this.#load.isDelayed && choice < 20 ? undefined : await this.#add();
    if (choice < 31) return void await this.#engine.cancel(this.#key(), "");
    if (choice < 34) return void await this.#engine.cancelDelayed(this.#key());
    if (choice < 38) return void await this.#engine.promoteDelayed(this.#key());
    if (process.stillUntil > this.#now) return;
    if (choice < 82) return await this.#turn(process, this.#below(4 * this.#size));
    if (choice < 86) return await this.#finishPast();
    if (choice < 90) return await this.#loseReply(process);
    if (choice < 92) return this.#crash(process);
    if (choice < 94) return void (process.stillUntil = this.#now + this.#below(3 * LEASE));
    if (choice < 96) return await this.#leave(process);
    if (choice < 98 || this.#load.isSteady) return await this.#pass(this.#below(LEASE));
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

  async #changeSome(): Promise<void> {
    const choice = this.#below(8);
    const key = this.#key();
    const keys = this.#below(2) === 0 ? undefined : [key, this.#key(), this.#key()];
    if (choice < 3) await this.#engine.redrive({ search: "", keys }, this.#below(2) === 0 ? undefined : 20);
    else if (choice < 4) await this.#engine.discard({ search: GROUPS[this.#below(GROUPS.length)]!, keys });
    else if (choice < 5) await this.#engine.stopRedrive();
    else if (choice < 7) await addRateLimited(this.#engine, { key, payload: "" }, { priority: this.#below(3) });
    else this.#open(ORDERS[this.#below(ORDERS.length)]);
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
    for (const [i, { key, token }] of finishes.entries()) {
      const answer = reply.answers[i];
      if (typeof answer === "number") held.push({ key, token, failures: answer }); // it has failed more or less often
      else this.#past.push({ key, token });
    }
    if (reply.isLost) this.#crash(process);
    process.held.push(...reply.taken);
    if (reply.taken.length > 0) process.renewedAt = this.#now;
  }

  /** Returns finishes of some of the keys of a process, which it doesn't have from now on. */
  #someFinishes(process: Process, kinds = this.#load.hasGiveUps ? ALL_KINDS : KINDS): Finish[] {
    const count = Math.min(process.held.length, this.#below(3 * this.#size));
    return process.held.splice(0, count).map(({ key, token, failures }) => {
      const kind = kinds[this.#below(kinds.length)]!;
      const reason = kind === "failed" || kind === "givenUp" ? "no" : "";
      return asked(this.#engine, { key, token, kind, reason, delay: 0 }, failures);
    });
  }

  async #finishPast(): Promise<void> {
    const past = this.#past[this.#below(this.#past.length)];
    const finishes = past === undefined ? [] : [{ ...past, kind: "succeeded" as const }];
    await this.#turn({ ...this.#start(), owner: "late" }, 0, finishes);
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
    const owner = `owner ${++this.#owners}, ${Math.floor(this.#now)} ms`; // another run may go on with the file
    return { owner, held: [], renewedAt: this.#now, stillUntil: 0, isBusy: false };
  }

  /** Returns the keys that are given up. */
  async givenUp(): Promise<Set<string>> {
    const { entries } = await this.#engine.givenUp({ search: "", limit: 10_000, cursor: undefined });
    return new Set(entries.map(({ key }) => key));
  }

  /** Lets the processes work until the queue is idle. */
  async drain(): Promise<void> {
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
        await this.#engine.renew(process.owner).catch((error) => {
          if (!this.#load.mayFail) throw error;
        });
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
