import { closeSync, type FSWatcher, openSync, utimesSync, watch } from "node:fs";
import { clearInterval, setInterval } from "node:timers";
import type { Statements } from "./statements.ts";

/** Milliseconds between two looks for messages, in case the file system announces no changes. */
const LOOK_AGAIN = 250;

type Listener = (delay: number) => void;

/**
 * Messages between the processes that use a file. A message to another process is a row of the table `messages`. After
 * the transaction, the sender touches the file `PATH-wake`, which all processes watch.
 */
export class Messages {
  readonly #sql: Statements;
  readonly #path: string;
  readonly #listeners = new Map<string, Listener>();
  /** Number of the latest message that each listener has received. */
  readonly #received = new Map<string, number>();
  #watcher: FSWatcher | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #version = 0;

  constructor(sql: Statements, path: string) {
    this.#sql = sql;
    this.#path = `${path}-wake`;
  }

  /** Calls `listener` with the delay of each message to a process. Returns an unsubscribe function. */
  listen(process: string, listener: Listener): () => void {
    if (this.#listeners.size === 0) this.#start();
    this.#listeners.set(process, listener);
    return () => {
      this.#listeners.delete(process);
      this.#received.delete(process);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  /** Notes messages for other processes. Called in the transaction that sends them. Returns whether there are any. */
  store(messages: ReadonlyMap<string, number>, at: number): boolean {
    let isAny = false;
    for (const [process, delay] of messages) {
      if (this.#listeners.has(process)) continue;
      isAny = true;
      this.#sql.run(
        `INSERT INTO messages (process, number, delay, sent) VALUES (?, 1, ?, ?)
          ON CONFLICT (process) DO UPDATE SET number = number + 1, delay = excluded.delay, sent = excluded.sent`,
        process,
        delay,
        at,
      );
    }
    if (isAny) this.#sql.run("DELETE FROM messages WHERE sent < ?", at - 3_600_000_000); // to processes that are gone
    return isAny;
  }

  /** Sends messages. Called after the transaction. */
  send(messages: ReadonlyMap<string, number>, isStored: boolean): void {
    if (isStored) {
      const now = Date.now() / 1000;
      utimesSync(this.#path, now, now);
    }
    for (const [process, delay] of messages) this.#listeners.get(process)?.(delay);
  }

  /** Creates the file that processes watch. */
  create(): void {
    closeSync(openSync(this.#path, "a"));
  }

  stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
  }

  #start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#lookIfChanged(), LOOK_AGAIN);
    try {
      this.#watcher = watch(this.#path, () => this.#look());
      this.#watcher.on("error", () => {}); // the timer looks as well
    } catch {
      // The timer looks instead.
    }
  }

  #lookIfChanged(): void {
    const { data_version } = this.#sql.get<{ data_version: number }>("PRAGMA data_version")!;
    if (data_version === this.#version) return;
    this.#version = data_version;
    this.#look();
  }

  #look(): void {
    for (const [process, listener] of [...this.#listeners]) {
      const row = this.#sql.get<{ number: number; delay: number }>(
        "SELECT number, delay FROM messages WHERE process = ?",
        process,
      );
      if (row === undefined || row.number === this.#received.get(process)) continue;
      this.#received.set(process, row.number);
      listener(row.delay);
    }
  }
}
