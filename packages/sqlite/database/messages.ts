import { closeSync, existsSync, type FSWatcher, openSync, utimesSync, watch } from "node:fs";
import { clearInterval, setInterval } from "node:timers";
import type { FileConnection } from "./file_connection.ts";
import type { Statements } from "./statements.ts";

/** Milliseconds between two looks for messages, in case the file system announces no changes. */
const LOOK_AGAIN = 250;

/** Microseconds for which a message is kept. Processes that have not read it by then are gone. */
const KEPT = 3_600_000_000;

type Listener = (delay: number) => void;

/** Notes messages for processes. Called in the transaction that sends them. */
export function storeMessages(sql: Statements, messages: Iterable<readonly [string, number]>, at: number): void {
  let isAny = false;
  for (const [process, delay] of messages) {
    isAny = true;
    sql.run(
      `INSERT INTO messages (process, number, delay, sent) VALUES (?, ?, ?, ?)
        ON CONFLICT (process) DO UPDATE SET number = number + 1, delay = excluded.delay, sent = excluded.sent`,
      process,
      at, // a number that no earlier message to the process has, although its row may have been deleted since
      delay,
      at,
    );
  }
  if (isAny) sql.run("DELETE FROM messages WHERE sent < ?", at - KEPT);
}

/** Tells the processes that watch the file `PATH-wake` to look for messages. */
export function announce(path: string): void {
  const now = Date.now() / 1000;
  try {
    utimesSync(wakePath(path), now, now);
  } catch {
    createWakeFile(path); // the file was removed, so no process is notified now, but all check again anyway
  }
}

function createWakeFile(path: string): void {
  try {
    if (!existsSync(path)) return; // somebody removes all files
    closeSync(openSync(wakePath(path), "a"));
  } catch {
    // The processes look again without it.
  }
}

function wakePath(path: string): string {
  return `${path}-wake`;
}

/**
 * Messages between the processes that use a file. A message to another process is a row of the table `messages`. After
 * the transaction, the sender touches the file `PATH-wake`, which all processes watch.
 */
export class Messages {
  readonly #connection: FileConnection;
  readonly #path: string;
  readonly #listeners = new Map<string, Listener>();
  /** Number of the latest message that each listener has received. */
  readonly #received = new Map<string, number>();
  #watcher: FSWatcher | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #version = 0;

  constructor(connection: FileConnection, path: string) {
    this.#connection = connection;
    this.#path = path;
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
    const others = [...messages].filter(([process]) => !this.#listeners.has(process));
    storeMessages(this.#connection.sql, others, at);
    return others.length > 0;
  }

  /** Sends messages. Called after the transaction. */
  send(messages: ReadonlyMap<string, number>, isStored: boolean): void {
    if (isStored) announce(this.#path);
    for (const [process, delay] of messages) this.#listeners.get(process)?.(delay);
  }

  stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
  }

  #start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#lookAgain(), LOOK_AGAIN);
    this.#watch();
  }

  #watch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    createWakeFile(this.#path);
    try {
      this.#watcher = watch(wakePath(this.#path), (event) => {
        if (event === "rename") this.#watch(); // the file was removed or replaced
        this.#look();
      });
      this.#watcher.on("error", () => {}); // the timer looks as well
    } catch {
      // The timer looks instead, and tries to watch again.
    }
  }

  #lookAgain(): void {
    if (this.#watcher === undefined) this.#watch();
    this.#look(true);
  }

  /** Gives new messages to their listeners. */
  #look(ifChanged = false): void {
    let received: [Listener, number][] = [];
    try {
      if (!ifChanged || this.#isChanged()) received = [...this.#listeners].flatMap((entry) => this.#receive(...entry));
    } catch {
      // The file can't be read. The next call of the queue rejects with the reason.
    }
    for (const [listener, delay] of received) listener(delay);
  }

  #isChanged(): boolean {
    const { data_version } = this.#connection.sql.get<{ data_version: number }>("PRAGMA data_version")!;
    if (data_version === this.#version) return false;
    this.#version = data_version;
    return true;
  }

  #receive(process: string, listener: Listener): [Listener, number][] {
    const row = this.#connection.sql.get<{ number: number; delay: number }>(
      "SELECT number, delay FROM messages WHERE process = ?",
      process,
    );
    if (row === undefined || row.number === this.#received.get(process)) return [];
    this.#received.set(process, row.number);
    return [[listener, row.delay]];
  }
}
