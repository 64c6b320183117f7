import type { Engine } from "@workqueue/engine";
import process from "node:process";
import type { MessagePort } from "node:worker_threads";
import { SqliteConnectionError } from "../database/errors.ts";
import { clock, openParts, type Parts } from "../parts.ts";
import {
  isServedHere,
  type ListenerMessage,
  READY,
  type Reply,
  type Request,
  type SentError,
  type SentSettings,
} from "./protocol.ts";

/** Address of this module, if the program is not bundled. */
export const SERVER: string = import.meta.url;

/** Database of a file, and the queues that use it. */
class Server {
  readonly #port: MessagePort;
  readonly #queues = new Map<number, Parts>();
  readonly #stops = new Map<number, () => void>();
  #replies: Reply[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (requests: readonly Request[]) => {
      for (const request of requests) this.#serve(request);
    });
    port.postMessage(READY);
  }

  async #serve(request: Request): Promise<void> {
    const { id } = request;
    try {
      this.#reply({ id, value: await this.#carryOut(request) });
    } catch (error) {
      this.#reply({ id, error: sentErrorOf(error) });
    }
  }

  /** Sends all replies of one turn of the event loop together. */
  #reply(reply: Reply): void {
    this.#replies.push(reply);
    if (this.#replies.length > 1) return;
    Promise.resolve().then(() => {
      this.#port.postMessage(this.#replies);
      this.#replies = [];
    });
  }

  #carryOut({ queue, method, args }: Request): unknown {
    if (method === "open") return this.#open(queue, ...args as [string, SentSettings]);
    if (method === "unlisten") return this.#unlisten(args[0] as number);
    const parts = this.#queues.get(queue)!;
    const { engine, throttleStore } = parts;
    switch (method) {
      case "set":
        return void Object.assign(engine, args[0]);
      case "listen":
        return this.#listen(args[0] as number, (send) => {
          return engine.listen(args[1] as string, { wake: send, renew: () => send("renew"), resumed() {} });
        });
      case "listenThrottle": {
        const [listener, throttle, process] = args as [number, string, string];
        return this.#listen(listener, (send) => throttleStore.listen(throttle, process, () => send(0)));
      }
      case "permits":
      case "tokens":
        return (throttleStore[method] as (...args: unknown[]) => unknown)(...args);
      default:
        return (engine[method as keyof Engine] as (...args: unknown[]) => unknown)(...args);
    }
  }

  #open(queue: number, path: string, { limiter, discipline, ...settings }: SentSettings): void {
    this.#queues.set(
      queue,
      openParts(path, {
        ...settings,
        limiter: { ...limiter, given: () => "" },
        discipline: discipline as never,
        clock,
      }),
    );
  }

  async #listen(
    listener: number,
    listen: (send: (message: ListenerMessage) => void) => Promise<() => void>,
  ): Promise<void> {
    this.#stops.set(listener, await listen((message) => this.#reply({ listener, message })));
  }

  #unlisten(listener: number): void {
    this.#stops.get(listener)?.();
    this.#stops.delete(listener);
  }
}

function sentErrorOf(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof SqliteConnectionError ? { message, mayHaveRun: error.mayHaveRun } : { message };
}

/**
 * Serves the queues that started this thread. Only a program that is bundled into one file needs to call it, from a
 * second file that contains nothing else and whose URL is the option `thread`.
 *
 * @example Usage
 * ```ts ignore
 * import { serveThread } from "@workqueue/sqlite/thread";
 *
 * serveThread();
 * ```
 *
 * @throws {Error} If no queue with the option `thread` started the file.
 */
export function serveThread(): void {
  if (!isServedHere()) throw new Error("Cannot serve thread: no queue with the option 'thread' started this file");
  new Server(process.getBuiltinModule("node:worker_threads").parentPort!);
}
