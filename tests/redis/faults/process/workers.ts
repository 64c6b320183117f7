/** Processes that work on a queue, and a witness that sees who works on what. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runtimes } from "../../../runtimes.ts";
import { callRedis, RedisServer } from "../../server.ts";

/** What a worker is told. Lengths of time are in milliseconds. */
export interface WorkerArguments {
  url: string;
  /** The URL of the server for notes. */
  witness: string;
  name: string;
  leaseDuration: number;
  maxStalls: number;
  concurrency: number;
  /** How long a handler takes, on average. */
  ms: number;
  /** Whether each first attempt fails. */
  failsOnce: boolean;
  /** The item that kills its process. */
  poison?: string;
}

/** A process of `worker.ts`. */
export interface Worker {
  readonly pid: number;
  /** Resolves when it takes items. */
  readonly ready: Promise<unknown>;
  /** Resolves to its exit code, or to what killed it. */
  readonly ended: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
}

const SCRIPT = fileURLToPath(new URL("worker.ts", import.meta.url));

export async function startWorker(runtime: "Deno" | "Bun", args: WorkerArguments): Promise<Worker> {
  const [file, ...options] = await runtimes[runtime]!();
  const child: ChildProcess = spawn(file!, [...options, SCRIPT, JSON.stringify(args)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code, signal]) => code ?? signal);
  const failed = ended.then((code) => Promise.reject(new Error(`A worker on ${runtime} ended at its start: ${code}`)));
  return {
    pid: child.pid!,
    ready: handled(Promise.race([once(createInterface(child.stdout!), "line"), failed])),
    ended,
    // Deno says of a child that was told to end by `child.kill` that the signal has killed it.
    kill: (signal) => void process.kill(child.pid!, signal),
  };
}

/** One that has begun and not ended, of a process that may be dead. */
interface Work {
  readonly pid: string;
  readonly token: bigint;
}

/** Keeps the notes of all processes in the one order in which they came. */
export class Witness implements AsyncDisposable {
  readonly #server: RedisServer;
  /** What was seen to be wrong. */
  readonly wrong: string[] = [];
  readonly errors: string[] = [];
  /** How often each item has come to the end of its handler, by attempt. */
  readonly ends = new Map<string, number[]>();
  /** What each process that died had in its hands. */
  readonly hands: string[][] = [];
  readonly #current = new Map<string, Work>();
  readonly #tokens = new Set<bigint>();

  private constructor(server: RedisServer) {
    this.#server = server;
  }

  static async start(): Promise<Witness> {
    return new Witness(await RedisServer.start());
  }

  get url(): string {
    return this.#server.url;
  }

  /** A process is dead: whoever begins its work from now on is right to do so. */
  async noteDeath(pid: number): Promise<void> {
    await callRedis(this.url, "RPUSH", "notes", `death ${pid}`);
  }

  /** Reads what was noted since. */
  async read(): Promise<void> {
    for (;;) {
      const notes = await callRedis(this.url, "LPOP", "notes", "10000") as string[] | null;
      if (notes === null) return;
      for (const note of notes) this.#see(note);
    }
  }

  #see(note: string): void {
    const [what, pid = "", token = "", attempt, ...words] = note.split(" ");
    if (what === "error") return void this.errors.push(note);
    if (what === "death") {
      const hands = [...this.#current].filter(([, work]) => work.pid === pid).map(([item]) => item);
      for (const item of hands) this.#current.delete(item);
      this.hands.push(hands);
      return;
    }
    const item = words.join(" ");
    const current = this.#current.get(item);
    if (what === "begin") {
      if (current !== undefined) this.wrong.push(`${note}, while ${current.pid} has it by ${current.token}`);
      if (this.#tokens.has(BigInt(token))) this.wrong.push(`${note}: the token has been there`);
      this.#tokens.add(BigInt(token));
      this.#current.set(item, { pid, token: BigInt(token) });
    } else {
      if (current?.token !== BigInt(token)) this.wrong.push(`${note}, which it had not begun`);
      this.#current.delete(item);
      this.ends.set(item, [...this.ends.get(item) ?? [], Number(attempt)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** A promise that nobody may be waiting for when it rejects. */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {});
  return promise;
}
