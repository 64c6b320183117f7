import { messageOf } from "@workqueue/core/internal";
import process from "node:process";
import type { Worker } from "node:worker_threads";
import { SqliteConnectionError } from "../database/errors.ts";
import { entryOf, type GivenThread } from "./entry.ts";
import {
  type ListenerMessage,
  READY,
  type Reply,
  type Request,
  type SentError,
  type SentSettings,
  THREAD_DATA,
} from "./protocol.ts";

/** Call without a reply. */
interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Threads of this process, by the path of their file. Each has one connection, which all of its queues share. */
const threads = new Map<string, Thread>();

/**
 * Returns the thread that has the database of a file. Starts it if there is none.
 *
 * @param given The option `thread`.
 * @throws {Error} If the thread would start the program again.
 */
export function threadOf(path: string, given: GivenThread): Thread {
  const entry = entryOf(given); // checked for each queue, whether its file has a thread or not
  let thread = threads.get(path);
  if (thread === undefined) threads.set(path, thread = new Thread(path, entry));
  return thread;
}

/** Thread that has the database of a file. It ends when the last queue that uses it is closed. */
export class Thread {
  readonly path: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<number, (message: ListenerMessage) => void>();
  #requests: Request[] = [];
  #isReady = false;
  #ids = 0;
  #users = 0;
  /** Why the thread ended, if it has. */
  #end: Error | undefined;

  /** `entry` is the text that the thread evaluates. */
  constructor(path: string, entry: string) {
    this.path = path;
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    this.#worker = new Worker(entry, { eval: true, workerData: THREAD_DATA });
    this.#worker.on("message", (message: typeof READY | readonly Reply[]) => this.#receive(message));
    this.#worker.on("error", (error: Error) => this.#ended(error));
    this.#worker.on("exit", () => this.#ended(new Error("it exited")));
  }

  /** Opens a queue. Returns its number, which its calls need. */
  open(settings: SentSettings): number {
    this.#users++;
    const queue = this.#ids++;
    this.call(queue, "open", [this.path, settings]).catch(() => {}); // calls of the queue fail then
    return queue;
  }

  /** Closes a queue. */
  async close(queue: number): Promise<void> {
    await this.call(queue, "close", []);
    if (--this.#users === 0) await this.end();
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    this.#ended(new Error("it was closed"));
    await this.#worker.terminate();
  }

  /**
   * Calls a method of a queue. Calls are carried out in order. Calls that are made at the same time are sent together.
   */
  call(queue: number, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#end !== undefined) return Promise.reject(this.#errorOfEnd(false));
    const id = this.#ids++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    this.#requests.push({ id, queue, method, args });
    if (this.#requests.length === 1 && this.#isReady) Promise.resolve().then(() => this.#send());
    this.#holdProcess();
    return promise;
  }

  /** Calls a method that listens. Resolves to an unsubscribe function. */
  async listen(
    queue: number,
    method: string,
    args: readonly unknown[],
    callback: (message: ListenerMessage) => void,
  ): Promise<() => void> {
    const listener = this.#ids++;
    this.#listeners.set(listener, callback);
    await this.call(queue, method, [listener, ...args]);
    return () => {
      this.#listeners.delete(listener);
      this.#holdProcess();
      if (this.#end === undefined) this.call(queue, "unlisten", [listener]).catch(() => {}); // the thread has ended
    };
  }

  #send(): void {
    if (this.#requests.length === 0 || this.#end !== undefined) return;
    this.#worker.postMessage(this.#requests);
    this.#requests = [];
  }

  #receive(message: typeof READY | readonly Reply[]): void {
    if (message === READY) {
      this.#isReady = true;
      return this.#send();
    }
    for (const reply of message) {
      if ("listener" in reply) this.#listeners.get(reply.listener)?.(reply.message);
      else this.#settle(reply);
    }
    this.#holdProcess();
  }

  #settle(reply: Exclude<Reply, { listener: number }>): void {
    const { resolve, reject } = this.#waiting.get(reply.id)!;
    this.#waiting.delete(reply.id);
    if ("error" in reply) reject(errorOf(reply.error));
    else resolve(reply.value);
  }

  /** Keeps the process alive while it waits for the thread. */
  #holdProcess(): void {
    if (this.#waiting.size + this.#listeners.size > 0) this.#worker.ref();
    else this.#worker.unref();
  }

  #ended(reason: Error): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    if (threads.get(this.path) === this) threads.delete(this.path);
    for (const { reject } of this.#waiting.values()) reject(this.#errorOfEnd(true));
    this.#waiting.clear();
  }

  #errorOfEnd(mayHaveRun: boolean): SqliteConnectionError {
    const message = `Cannot write to ${this.path}: its thread has ended: ${messageOf(this.#end)}`;
    return new SqliteConnectionError(message, { mayHaveRun, cause: this.#end });
  }
}

function errorOf({ message, mayHaveRun }: SentError): Error {
  return mayHaveRun === undefined ? new Error(message) : new SqliteConnectionError(message, { mayHaveRun });
}
