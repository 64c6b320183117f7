/** Run of a random load on a file, with one fault at one of the statements that write. */

import { interceptStatements } from "./statements.ts"; // first, because it changes what other modules import
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { seeded } from "../../redis/faults/seeded.ts";
import { check, type Rules } from "../../redis/history/check.ts";
import type { Line } from "../../redis/history/event.ts";
import { type Load, LoadRun } from "../../redis/history/load.ts";
import { LOADS, rulesOf } from "../../redis/history/loads.ts";
import { MEMORY } from "../files.ts";
import { unsound } from "../sound.ts";
import { type Files, midway, readFiles, SyncedLog, writeFiles } from "./disk.ts";
import { FileStore } from "./file_store.ts";

export const KINDS = ["kill", "power cut", "error"] as const;
/** Kind of a fault: the process is killed, the machine loses power, or a statement fails. */
export type FaultKind = (typeof KINDS)[number];

/** Result of a run. */
export interface Outcome {
  readonly kind: FaultKind;
  /** Statement at which the fault was, and the part of it; `undefined` if the load ended before. */
  readonly place: string | undefined;
  readonly handOuts: number;
  /** Violations. */
  readonly wrong: readonly string[];
}

/** Number of steps of a load. */
const STEPS = 60;
/** Statements at which a fault can be, and about how many of them a load makes. Most write at the next commit. */
const TARGETS: readonly (readonly [pattern: RegExp, count: number])[] = [
  [/^COMMIT/, 50],
  [/^COMMIT/, 50],
  [/^/, 400],
  [/wal_checkpoint/, 3],
];
/** Number of statements that create the tables, about. A fault at one of them is a kill. */
const OPENING = 60;

/** Codes and messages of SQLite. */
const BUSY = [5, "database is locked"] as const;
const FULL_DISK = [13, "database or disk is full"] as const;
const IO_ERROR = [10, "disk I/O error"] as const;

/** Calls whose replies say that something is on the disk. */
const FULL: ReadonlySet<string> = new Set(["add", "addLimited", "cancel", "promote", "redrive"]);

/** Load with the most kinds of calls. */
const CHANGING = "keys that are given up, and orders that change";
/** Loads whose rules hold although their processes crash. */
const ALL_LOADS: readonly Load[] = Object.values(LOADS).filter((load) => !("isBacklog" in load));
/** Loads whose rules hold although hand-outs are lost: those without a rate, because its tokens come back. */
const UNRATED = ALL_LOADS.filter((load) => !("bucket" in load) && !JSON.stringify(load).includes("ratePerGroup"));

/** Runs a load with a fault. The seed decides on both. */
export async function faultRun(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(join(MEMORY, "workqueue-faults-"));
  try {
    return await new FaultRun(seed, folder).run();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

class FaultRun {
  readonly #random: () => number;
  readonly #kind: FaultKind;
  readonly #load: Load & { readonly engines: number };
  readonly #rules: Rules;
  readonly #path: string;
  readonly #log: SyncedLog;
  /** Statements at which the fault can be, and the number of those that come before it. */
  readonly #target: RegExp;
  #before: number;
  /** Connections that have a small cache, so that they write to the log before they commit. */
  readonly #small: WeakSet<DatabaseSync> | undefined;
  #place: string | undefined;
  /** Number of statements that fail from now on. */
  #failing = 0;
  /** Files that a crash has left. */
  #left: Files | undefined;
  readonly #lines: Line[] = [];
  /** Number of lines whose calls are on the disk. */
  #synced = 0;

  constructor(seed: number, folder: string) {
    this.#random = seeded(seed);
    this.#kind = KINDS[seed % KINDS.length]!;
    const loads = this.#kind === "power cut" ? UNRATED : ALL_LOADS;
    const load = this.#below(3) === 0 ? LOADS[CHANGING] : loads[this.#below(loads.length)]!;
    this.#rules = rulesOf(load);
    this.#load = {
      ...load,
      seed,
      steps: STEPS,
      engines: 1 + this.#below(3),
      atOnce: 1 + this.#below(4),
      isSteady: true, // a fault would undo what the queue knows of the clock
      mayFail: this.#kind === "error",
    };
    this.#path = join(folder, "queue.db");
    this.#log = new SyncedLog(this.#path);
    this.#small = this.#below(2) === 0 ? new WeakSet() : undefined;
    const isEarly = this.#kind === "kill" && this.#below(8) === 0;
    const targets = TARGETS.slice(0, this.#kind === "error" ? 3 : 4);
    const [target, count] = isEarly ? [/^/, OPENING] as const : targets[this.#below(targets.length)]!;
    this.#target = target;
    this.#before = (isEarly || count < 10 ? 0 : count === 400 ? OPENING : 1) + this.#below(count);
  }

  async run(): Promise<Outcome> {
    const { engines } = this.#load;
    const run = new LoadRun("queue", this.#load);
    const first = new FileStore(this.#path, engines);
    try {
      using _intercepted = interceptStatements((...args) => this.#around(...args));
      run.begin(first, (line) => void (this.#left === undefined && this.#lines.push(line)));
      await run.work();
    } catch (error) {
      if (this.#left === undefined) throw error;
    }
    if (this.#kind === "error") return await this.#end(run, first, this.#path, [this.#lines]);
    this.#left ??= this.#cut(readFiles(this.#path));
    await first.close();

    const path = `${this.#path}.copy`;
    writeFiles(path, this.#left);
    const wrong = unsound(path).map((each) => `after the crash: ${each}`);
    const second = new FileStore(path, engines);
    const lines: Line[] = [];
    run.begin(second, (line) => lines.push(line), 1000 + this.#below(5000));
    return await this.#end(run, second, path, [this.#acknowledged(), lines], wrong);
  }

  /** Lets the processes work until the queue is idle, and checks everything. */
  async #end(run: LoadRun, store: FileStore, path: string, files: Line[][], wrong: string[] = []): Promise<Outcome> {
    await run.drain();
    const givenUp = await run.givenUp();
    await store.close();
    wrong.push(...unsound(path).map((each) => `at the end: ${each}`));
    const verdict = check(files, { ...this.#rules, givenUp });
    wrong.push(...verdict.wrong.map((each) => each.join(": ")));
    return { kind: this.#kind, place: this.#place, handOuts: verdict.handOuts, wrong };
  }

  /** Runs a statement, unless there is a fault. */
  #around(sql: string, connection: DatabaseSync, run: () => unknown): unknown {
    if (sql === "ROLLBACK") return run();
    if (this.#left !== undefined) throw new Error("the process was killed");
    if (this.#small?.has(connection) === false) {
      this.#small.add(connection);
      connection.exec("PRAGMA cache_size = 10");
    }
    const isHere = this.#target.test(sql) && this.#before-- === 0;
    if (isHere) this.#failing = 1 + this.#below(3);
    if (this.#kind === "error") {
      return this.#failing > 0 ? this.#fail(sql, connection, run) : run();
    }
    if (isHere) this.#crash(sql, connection, run);
    const result = run();
    this.#follow(sql, connection);
    if (sql === "COMMIT" && this.#below(25) === 0) connection.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
    return result;
  }

  #follow(sql: string, connection: DatabaseSync): void {
    if (this.#kind === "power cut" && this.#log.follow(sql, connection)) this.#synced = this.#lines.length;
  }

  /** Ends the process before, during or after a statement. Only some statements write to the files at once. */
  #crash(sql: string, connection: DatabaseSync, run: () => unknown): never {
    const parts = sql === "COMMIT" || sql.includes("wal_checkpoint") ? ["before", "during", "after"] : ["before"];
    const part = parts[this.#below(parts.length)]!;
    this.#place = `${part} ${sql.split(/\s+/, 3).join(" ")}`;
    const before = readFiles(this.#path);
    let files = before;
    if (part !== "before") {
      run();
      files = readFiles(this.#path);
      if (part === "during") files = midway(before, files, this.#random);
      else this.#follow(sql, connection);
    }
    this.#left = this.#cut(files, part === "during" ? before : files);
    throw new Error("the process was killed");
  }

  /** Returns the files that the crash leaves, if a kill leaves `files`. */
  #cut(files: Files, before = files): Files {
    return this.#kind === "power cut" ? this.#log.cut(files, before, this.#random) : files;
  }

  /** Fails as SQLite does. */
  #fail(sql: string, connection: DatabaseSync, run: () => unknown): never {
    this.#place ??= `at ${sql.split(/\s+/, 3).join(" ")}`;
    this.#failing--;
    const errors = sql.startsWith("BEGIN") ? [BUSY, FULL_DISK, IO_ERROR] : [FULL_DISK, IO_ERROR];
    const [errcode, message] = errors[this.#below(errors.length)]!;
    if (sql === "COMMIT" && errcode === IO_ERROR[0] && this.#below(2) === 0) run(); // and nobody knows
    else if (connection.isTransaction && this.#below(2) === 0) connection.exec("ROLLBACK"); // as some errors do
    throw Object.assign(new Error(message), { errcode });
  }

  /**
   * Returns the lines with what their processes know after the crash. After a power cut, the outcomes of calls that are
   * not on the disk are not known, unless the calls said that they are. No owner has keys any more.
   */
  #acknowledged(): Line[] {
    if (this.#kind !== "power cut") return this.#lines;
    const names = new Map(this.#lines.flatMap((line) => "call" in line ? [[line.call, line.do]] : []));
    const known = this.#lines.flatMap((line, i): Line[] => {
      if (i < this.#synced || !("reply" in line) || FULL.has(names.get(line.reply)!)) return [line];
      return names.get(line.reply) === "turn" ? [{ ...line, answers: [] }] : [];
    });
    const at = this.#lines.at(-1)?.at ?? 0;
    const owners = new Set(this.#lines.flatMap((line) => "owner" in line ? line.owner : []));
    return [...known, ...[...owners].map((owner): Line => ({ at, call: 0, do: "leave", owner }))];
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
