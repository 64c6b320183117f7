import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate, setTimeout } from "node:timers";
import { SqliteConnectionError } from "./errors.ts";
import { Messages } from "./messages.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";
import { Statements } from "./statements.ts";

/** Whether a transaction must be on disk before its promise resolves, or may be lost by a power cut. */
export type Durability = "full" | "normal";

/** Maximum number of tasks in one transaction. The event loop stands still during a transaction. */
const MAX_TASKS = 500;
/** Shortest and longest pause between two tries to write while another process writes, in milliseconds. */
const [MIN_PAUSE, MAX_PAUSE] = [1, 50];
/** Result code of SQLite: another connection writes. */
const SQLITE_BUSY = 5;

/** Part of the database that the tasks of a transaction share. */
export interface Shared {
  /** Time of the part, and the messages to send once the transaction is on the disk. */
  readonly tx: { readonly now: number; readonly messages: ReadonlyMap<string, number> };
  /** Writes what the tasks have changed. Called at the end of the transaction. */
  end(): void;
}

/** Transaction, with what its tasks share, by name. */
export interface Batch {
  readonly sql: Statements;
  readonly shared: Map<string, Shared>;
}

/** Messages of a part, and whether there are any for other processes. */
interface Sent {
  readonly messages: ReadonlyMap<string, number>;
  readonly isStored: boolean;
}

/** Task that runs in a transaction. */
interface Task {
  readonly durability: Durability;
  readonly run: (batch: Batch) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Time at which the task fails if no transaction has begun. */
  readonly end: number;
}

/**
 * Database file, and the tasks of this process that wait for a transaction. Tasks that wait at the same time share a
 * transaction, and so one write to the disk. While another process writes, tasks wait without blocking the event loop.
 */
export class Database {
  readonly path: string;
  readonly messages: Messages;
  readonly #database: DatabaseSync;
  readonly #sql: Statements;
  readonly #callTimeout: number;
  readonly #onClose: () => boolean;
  #tasks: Task[] = [];
  #isScheduled = false;
  #isClosed = false;

  /**
   * Opens a file. Creates it if it doesn't exist.
   *
   * @param path The path.
   * @param callTimeout The time for which a task waits until it can write, in milliseconds.
   * @param onClose A function that is called by `close`, and returns whether the file must be closed.
   * @throws {Error} If this runtime has no SQLite, or the file can't be opened.
   */
  constructor(path: string, callTimeout: number, onClose: () => boolean = () => true) {
    this.path = path;
    this.#callTimeout = callTimeout;
    this.#onClose = onClose;
    this.#database = open(path);
    this.#sql = new Statements(this.#database);
    this.messages = new Messages(this.#sql, path);
    this.messages.create();
  }

  /** Runs a task in a transaction. Tasks run in the order of the calls. */
  run<R>(durability: Durability, task: (batch: Batch) => R): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = performance.now() + this.#callTimeout;
    if (this.#isClosed) reject(new Error(`Cannot use ${this.path}: it was closed`));
    else this.#tasks.push({ durability, run: task, resolve, reject, end });
    this.#schedule();
    return promise as Promise<R>;
  }

  /** Closes the file once no task is left, if it has no other users in this process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.run("normal", () => {});
    if (this.#isClosed || !this.#onClose()) return;
    this.#isClosed = true;
    this.messages.stop();
    this.#database.close();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.length === 0) return;
    this.#isScheduled = true;
    Promise.resolve().then(() => this.#flush(MIN_PAUSE));
  }

  #flush(pause: number): void {
    const tasks = this.#tasks.slice(0, MAX_TASKS);
    if (!this.#begin(tasks, pause)) return;
    this.#tasks.splice(0, tasks.length);
    this.#commit(tasks);
    // Lets whoever waited for these tasks make the next ones first, so that these share a transaction too.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  /** Begins a transaction. If another process writes, tries again later, and returns false. */
  #begin(tasks: readonly Task[], pause: number): boolean {
    try {
      const isFull = tasks.some(({ durability }) => durability === "full");
      this.#sql.run(isFull ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
      this.#sql.run("BEGIN IMMEDIATE"); // prepared, because errors of `exec` have no code on Deno
      return true;
    } catch (error) {
      const isBusy = (error as { errcode?: number }).errcode === SQLITE_BUSY;
      const now = performance.now();
      const failed = isBusy ? this.#tasks.filter(({ end }) => end <= now) : this.#tasks;
      this.#tasks = this.#tasks.filter((task) => !failed.includes(task));
      for (const { reject } of failed) {
        const message = isBusy
          ? `Cannot write to ${this.path} within ${this.#callTimeout} ms: another program has locked it`
          : `Cannot write to ${this.path}: ${(error as Error).message}`;
        reject(new SqliteConnectionError(message, { cause: error, mayHaveRun: false }));
      }
      setTimeout(() => {
        if (this.#tasks.length > 0) return this.#flush(Math.min(2 * pause, MAX_PAUSE));
        this.#isScheduled = false;
      }, pause * (0.5 + Math.random() / 2));
      return false;
    }
  }

  #commit(tasks: readonly Task[]): void {
    const results: unknown[] = [];
    const batch: Batch = { sql: this.#sql, shared: new Map() };
    const sent: Sent[] = [];
    try {
      for (const { run } of tasks) results.push(run(batch));
      for (const each of batch.shared.values()) {
        each.end();
        const { messages, now } = each.tx;
        if (messages.size > 0) sent.push({ messages, isStored: this.messages.store(messages, now) });
      }
      this.#sql.run("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#sql.run("ROLLBACK");
      return this.#failed(tasks, error);
    }
    for (const [i, { resolve }] of tasks.entries()) resolve(results[i]);
    for (const { messages, isStored } of sent) this.messages.send(messages, isStored);
  }

  /** Runs each of several tasks again by itself, because the error of one of them must not fail the others. */
  #failed(tasks: readonly Task[], error: unknown): void {
    if (tasks.length === 1) return tasks[0]!.reject(error);
    this.#tasks.unshift(...tasks);
    for (const task of tasks) {
      if (!this.#begin([task], MAX_PAUSE)) return;
      this.#tasks.shift();
      this.#commit([task]);
    }
  }
}

function open(path: string): DatabaseSync {
  const sqlite = process.getBuiltinModule?.("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (sqlite === undefined) {
    throw new Error(`Cannot open ${path}: this runtime has no node:sqlite. Use Deno, Bun, or Node 22.13 or later`);
  }
  try {
    const database = new sqlite.DatabaseSync(path);
    // Several processes may open the file at the same time.
    database.exec("PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL");
    migrate(database);
    database.exec("PRAGMA busy_timeout = 0");
    return database;
  } catch (error) {
    throw new Error(`Cannot open ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function migrate(database: DatabaseSync): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `it has version ${version} of the tables, and this release uses ${SCHEMA_VERSION}. ` +
        "Use the release that wrote it",
    );
  }
  if (version === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  const { user_version: current } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  for (const statements of MIGRATIONS.slice(current)) database.exec(statements); // unless another process has run them
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}
