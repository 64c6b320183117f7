/** Worker processes on a queue, and a witness that checks which process works on which item. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { allRuntimes } from "../../../runtimes.ts";
import { callRedis, RedisServer } from "../../server.ts";

/** Arguments of a worker. Durations are in milliseconds. */
export interface WorkerArguments {
  url: string;
  /** URL of the server that stores the notes. */
  witness: string;
  name: string;
  /** Folder of the queue's history. By default, the worker records none. */
  history?: string;
  leaseDuration: number;
  maxStalls: number;
  concurrency: number;
  /** Average duration of a handler. */
  ms: number;
  /** Whether the first attempt of each item fails. */
  failsOnce: boolean;
  /** Item that kills its process. */
  poison?: string;
}

/** Process of `worker.ts`. */
export interface Worker {
  readonly pid: number;
  /** Resolves once the process is ready to take items. */
  readonly ready: Promise<unknown>;
  /** Resolves to the exit code of the process, or to the signal that killed it. */
  readonly ended: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** Kills the process if it still runs. */
  end(): void;
}

const SCRIPT = fileURLToPath(new URL("worker.ts", import.meta.url));

/** Starts a worker, or another script that prints a line when it is ready. */
export async function startWorker(
  runtime: keyof typeof allRuntimes,
  args: WorkerArguments | object,
  script = SCRIPT,
): Promise<Worker> {
  const [file, ...options] = await allRuntimes[runtime]!();
  const child: ChildProcess = spawn(file!, [...options, script, JSON.stringify(args)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code, signal]) => code ?? signal);
  const failed = ended.then((code) => Promise.reject(new Error(`A worker on ${runtime} ended at its start: ${code}`)));
  return {
    pid: child.pid!,
    ready: handled(Promise.race([once(createInterface(child.stdout!), "line"), failed])),
    ended,
    // Deno reports a child as killed by the signal from `child.kill` even if the child handled the signal and exited.
    kill: (signal) => void process.kill(child.pid!, signal),
    end: () => void child.kill("SIGKILL"),
  };
}

/** Run of a handler that has started but not ended. The handler's process may be dead. */
interface Work {
  readonly pid: string;
  readonly token: bigint;
}

/** Collector of the notes from all processes, in order of arrival. */
export class Witness implements AsyncDisposable {
  readonly #server: RedisServer;
  /** Violations seen. */
  readonly wrong: string[] = [];
  readonly errors: string[] = [];
  /** Numbers of the attempts whose handlers have ended, by item. */
  readonly ends = new Map<string, number[]>();
  /** Items that each dead process was working on. */
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

  /** Records that a process is dead. From now on, other processes may handle the dead process's items. */
  async noteDeath(pid: number): Promise<void> {
    await callRedis(this.url, "RPUSH", "notes", `death ${pid}`);
  }

  /** Reads the notes written since the last call. */
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

/** Marks the promise as handled, so that its rejection doesn't end the process if nothing awaits the promise. */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => {});
  return promise;
}
