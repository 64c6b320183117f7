import { setImmediate, setTimeout } from "node:timers";
import type { Batch } from "./batch.ts";
import { isBusy, isInDoubt, isOfSqlite, reasonOf, SqliteConnectionError } from "./errors.ts";
import { type Durability, FileConnection } from "./file_connection.ts";
import { type Machine, Machines } from "./machines.ts";
import { Messages } from "./messages.ts";

/** Maximum number of keys that one transaction changes. The event loop stands still during a transaction. */
const MAX_KEYS = 500;
/** Shortest and longest pause between two tries to write while another process writes, in milliseconds. */
const [MIN_PAUSE, MAX_PAUSE] = [1, 50];
/**
 * Milliseconds after a transaction at which the write-ahead log is synced and copied into the file, and milliseconds
 * without a transaction that must have passed, so that no transaction waits for that.
 */
const [CHECKPOINT_AFTER, IDLE] = [1000, 50];
/** Milliseconds between two checks for removed files, while no transaction must be on disk. */
const CHECK_FILES = 250;

/** Messages of a part, and whether there are any for other processes. */
interface Sent {
  readonly messages: ReadonlyMap<string, number>;
  readonly isStored: boolean;
}

/** Task that runs in a transaction. */
interface Task {
  readonly durability: Durability;
  readonly run: (batch: Batch) => unknown;
  /** Whether the result counts even if nothing can be written. */
  readonly reads: boolean;
  /** Number of keys that the task may change. */
  readonly keys: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly callTimeout: number;
  /** Time of the call. */
  readonly since: number;
}

/** Settings of an open file that tests change. */
export interface DatabaseOptions {
  /** Called by `close`. Returns whether the file must be closed. */
  readonly onClose?: () => boolean;
  readonly machine?: Machine;
}

/**
 * Database file, and the tasks of this process that wait for a transaction. Tasks that wait at the same time share a
 * transaction, and so one write to the disk. While another process writes, tasks wait without blocking the event loop.
 */
export class Database {
  readonly path: string;
  readonly messages: Messages;
  readonly #connection: FileConnection;
  readonly #machines: Machines;
  readonly #onClose: () => boolean;
  #tasks: Task[] = [];
  /** Number of keys that the next transaction may change. Lower after a transaction failed. */
  #maxKeys = MAX_KEYS;
  #isScheduled = false;
  /** Time since when each try to begin a transaction has failed because another connection writes. */
  #lockedSince: number | undefined = undefined;
  #isClosed = false;
  #checkedFilesAt = -Infinity;
  /** Contents that transactions leave in memory. They are the same as in the file. */
  readonly #kept = new Map<string, unknown>();
  /** Time of the latest transaction. */
  #usedAt = 0;
  #isCheckpointPlanned = false;
  /** Called when there are no tasks. */
  #onIdle: (() => void) | undefined;

  /**
   * Creates the database of a file, which its first use opens, or creates if it doesn't exist.
   *
   * @param path The real path.
   */
  constructor(path: string, { onClose = () => true, machine }: DatabaseOptions = {}) {
    this.path = path;
    this.#onClose = onClose;
    this.#connection = new FileConnection(path);
    this.#machines = new Machines(machine);
    this.messages = new Messages(this.#connection, path);
  }

  /**
   * Opens the file now, unless another connection has locked it.
   *
   * @throws {Error} If this runtime has no SQLite, or the file can't be opened.
   */
  open(): void {
    this.#connection.openUnlessLocked();
  }

  /**
   * Runs a task in a transaction. Tasks run in the order of the calls.
   *
   * @param callTimeout The time for which the task waits while another connection writes, in milliseconds.
   * @param keys The number of keys that the task may change.
   */
  run<R>(durability: Durability, callTimeout: number, task: (batch: Batch) => R, keys = 1): Promise<R> {
    return this.#add(task, { durability, callTimeout, keys: Math.max(keys, 1), reads: false });
  }

  /**
   * Runs a task that only reads, although it may also do what is due. Succeeds even if that can't be written, for
   * example because the disk is full.
   */
  read<R>(callTimeout: number, task: (batch: Batch) => R): Promise<R> {
    return this.#add(task, { durability: "normal", callTimeout, keys: 1, reads: true });
  }

  #add<R>(
    run: (batch: Batch) => R,
    settings: Pick<Task, "durability" | "callTimeout" | "keys" | "reads">,
  ): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const since = performance.now();
    if (this.#isClosed) reject(new Error(`Cannot use ${this.path}: it was closed`));
    else this.#tasks.push({ ...settings, run, resolve, reject, since });
    this.#schedule();
    return promise as Promise<R>;
  }

  /** Closes the file once no task is left, if it has no other users in this process. */
  async close(): Promise<void> {
    if (this.#isScheduled) await new Promise<void>((resolve) => this.#onIdle = chain(this.#onIdle, resolve));
    if (this.#isClosed || !this.#onClose()) return;
    this.#isClosed = true;
    this.messages.stop();
    this.#connection.close();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.length === 0) return;
    this.#isScheduled = true;
    Promise.resolve().then(() => this.#flush(MIN_PAUSE));
  }

  /** Ends a flush. Begins another one if there are tasks. */
  #rest(): void {
    this.#isScheduled = false;
    this.#schedule();
    if (this.#isScheduled) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }

  #flush(pause: number): void {
    const tasks = this.#nextTasks();
    if (!this.#begin(tasks)) {
      const wait = pause * (0.5 + Math.random() / 2);
      return void setTimeout(
        () => this.#tasks.length > 0 ? this.#flush(Math.min(2 * pause, MAX_PAUSE)) : this.#rest(),
        wait,
      );
    }
    this.#tasks.splice(0, tasks.length);
    this.#commit(tasks);
    // Lets the code that waited for these tasks add its next tasks first, so that these share a transaction too.
    setImmediate(() => this.#rest());
  }

  /** Returns the tasks that share the next transaction. */
  #nextTasks(): Task[] {
    let [count, keys] = [0, 0];
    for (const task of this.#tasks) {
      keys += task.keys;
      if (count > 0 && keys > this.#maxKeys) break;
      count++;
    }
    return this.#tasks.slice(0, count);
  }

  /** Begins a transaction. If that fails, rejects the tasks that can't wait, and returns false. */
  #begin(tasks: readonly Task[]): boolean {
    try {
      const connection = this.#connection;
      connection.setDurability(isAnyFull(tasks) ? "full" : "normal");
      connection.sql.run("BEGIN IMMEDIATE"); // prepared, because errors of `exec` have no code on Deno
      this.#requireSound(tasks);
      if (connection.isChanged()) this.#kept.clear();
      this.#machines.note(connection.sql);
      this.#lockedSince = undefined;
      return true;
    } catch (error) {
      this.#rollBack();
      const failed = isBusy(error) ? this.#overdue() : this.#tasks;
      this.#tasks = this.#tasks.filter((task) => !failed.includes(task));
      for (const { reject, callTimeout } of failed) {
        reject(this.#errorOf(error, isBusy(error) ? ` within ${callTimeout} ms` : ""));
      }
      return false;
    }
  }

  /** Returns the tasks that have waited for too long since another connection has begun to write. */
  #overdue(): Task[] {
    const now = performance.now();
    const locked = this.#lockedSince ??= now;
    return this.#tasks.filter(({ since, callTimeout }) => now >= Math.max(since, locked) + callTimeout);
  }

  #commit(tasks: readonly Task[]): void {
    const results: unknown[] = [];
    const { sql } = this.#connection;
    const batch: Batch = { sql, shared: new Map(), kept: this.#kept };
    const sent: Sent[] = [];
    let isCommitting = false;
    try {
      for (const { run } of tasks) results.push(run(batch));
      for (const each of batch.shared.values()) {
        each.end();
        const { messages, now } = each.tx;
        if (messages.size > 0) sent.push({ messages, isStored: this.messages.store(messages, now) });
      }
      isCommitting = true;
      sql.run("COMMIT");
    } catch (error) {
      this.#rollBack();
      const areRead = results.length === tasks.length && tasks.every(({ reads }) => reads);
      if (areRead) return resolveAll(tasks, results);
      if (!isCommitting || !isInDoubt(error)) return this.#failed(tasks, error);
      return rejectAll(tasks, this.#errorOf(error, "", true));
    }
    this.#usedAt = performance.now();
    try {
      this.#requireSound(tasks);
    } catch (error) {
      return rejectAll(tasks, this.#errorOf(error, "", true));
    }
    this.#maxKeys = Math.min(2 * this.#maxKeys, MAX_KEYS);
    resolveAll(tasks, results);
    for (const { messages, isStored } of sent) this.messages.send(messages, isStored);
    this.#planCheckpoint();
  }

  #rollBack(): void {
    this.#kept.clear();
    try {
      this.#connection.rollBack();
    } catch {
      // The transaction is still open, so the next one can't begin, and rolls this one back instead.
    }
  }

  /**
   * Handles the failure of a transaction, which has written nothing to the file. The error of one task must not fail
   * the others, so the tasks run again, in smaller and smaller transactions.
   */
  #failed(tasks: readonly Task[], error: unknown): void {
    if (tasks.length === 1) return tasks[0]!.reject(isOfSqlite(error) ? this.#errorOf(error) : error);
    this.#tasks.unshift(...tasks);
    this.#maxKeys = Math.floor(tasks.reduce((sum, { keys }) => sum + keys, 0) / 2);
  }

  /**
   * Throws if the files are not those that were opened. Called before a transaction writes, because it would overwrite
   * the work of processes that use other files, and after it, because SQLite reports success although nobody will find
   * the transaction.
   */
  #requireSound(tasks: readonly Task[]): void {
    const now = performance.now();
    if (!isAnyFull(tasks) && now < this.#checkedFilesAt + CHECK_FILES) return;
    this.#checkedFilesAt = -Infinity; // if the check fails, the next transaction is checked too
    this.#connection.requireSound();
    this.#checkedFilesAt = now;
  }

  #errorOf(error: unknown, within = "", mayHaveRun = false): SqliteConnectionError {
    return new SqliteConnectionError(`Cannot write to ${this.path}${within}: ${reasonOf(error)}`, {
      cause: error,
      mayHaveRun,
    });
  }

  #planCheckpoint(wait = CHECKPOINT_AFTER): void {
    if (this.#isCheckpointPlanned) return;
    this.#isCheckpointPlanned = true;
    setTimeout(() => {
      this.#isCheckpointPlanned = false;
      if (this.#isClosed) return; // the last process that closes the file makes a checkpoint
      if (this.#isScheduled || performance.now() < this.#usedAt + IDLE) return this.#planCheckpoint(IDLE);
      if (!this.#connection.checkpoint()) this.#planCheckpoint();
    }, wait).unref();
  }
}

function isAnyFull(tasks: readonly Task[]): boolean {
  return tasks.some(({ durability }) => durability === "full");
}

function resolveAll(tasks: readonly Task[], results: readonly unknown[]): void {
  for (const [i, { resolve }] of tasks.entries()) resolve(results[i]);
}

function rejectAll(tasks: readonly Task[], error: Error): void {
  for (const { reject } of tasks) reject(error);
}

function chain(first: (() => void) | undefined, next: () => void): () => void {
  return () => {
    first?.();
    next();
  };
}
