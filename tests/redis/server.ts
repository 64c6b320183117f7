/** A Redis or Valkey of the tests' own: a real server, in a temporary folder, on a free port of the loopback. */

import { createClient } from "@redis/client";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, KEEPER, onPath } from "../keeper.ts";

/** Guards against a server that never answers, and nothing else. */
const DEADLINE = 60_000;
const LOOK_AGAIN = 5;

/** The server's executable: what `WORKQUEUE_REDIS_SERVER` names, or the first one on the PATH. */
export const REDIS_SERVER: string | undefined = process.env["WORKQUEUE_REDIS_SERVER"] ??
  onPath("redis-server", "valkey-server");

/** What a server is started with. */
export interface ServerOptions {
  /** Whether every write is appended to a file and synced before it is answered. */
  appendonly?: boolean;
  /** Such as `"2mb"`. */
  maxmemory?: string;
  /** Options as on the command line, such as `["--requirepass", "secret"]`. */
  args?: string[];
}

/** A server that runs until it is disposed of, or until the process of the test ends. */
export class RedisServer implements AsyncDisposable {
  /** Where its files are: `server.log`, `dump.rdb` when it has been told to `SAVE`, `appendonlydir/`. */
  readonly folder = mkdtempSync(join(tmpdir(), "workqueue_redis_"));
  readonly port: number;
  readonly #options: ServerOptions;
  #keeper: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  /** Its process. */
  pid = 0;

  private constructor(port: number, options: ServerOptions) {
    this.port = port;
    this.#options = options;
  }

  /** Starts a server, and waits until it answers. */
  static async start(options: ServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    try {
      await server.start();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again after a {@linkcode kill}, on the same port, with the files that are in its folder. */
  async start(): Promise<void> {
    const { appendonly = false, maxmemory = "0", args = [] } = this.#options;
    const options = { port: this.port, bind: "127.0.0.1", save: "", appendonly: appendonly ? "yes" : "no", maxmemory };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const command = [REDIS_SERVER!, ...words, "--appendfsync", "always", ...args];
    this.#keeper = spawn("sh", ["-c", KEEPER, "sh", ...command], {
      cwd: this.folder,
      stdio: ["pipe", "pipe", "ignore"], // what the shell says there is that a process was killed
    });
    this.#ended = once(this.#keeper, "exit");
    this.#keeper.stdin!.on("error", () => {}); // it may have ended by itself
    const [pid] = await once(createInterface(this.#keeper.stdout!), "line");
    this.pid = Number(pid);
    await this.#answers();
  }

  /** Sends it a signal. After `SIGKILL` it has ended. */
  async kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    process.kill(this.pid, signal);
    if (signal === "SIGKILL") await this.#ended;
  }

  /** Lets this process end while the server runs, which ends then as well. */
  unref(): void {
    this.#keeper!.unref();
    for (const pipe of [this.#keeper!.stdin, this.#keeper!.stdout]) (pipe as Partial<Socket>).unref?.(); // Bun has none
  }

  /** Kills it and starts it again: what it had not written to a file is lost. */
  async restart(): Promise<void> {
    await this.kill("SIGKILL");
    await this.start();
  }

  /** What it answers to a command, such as `call("CLIENT", "LIST")`, on a connection for this one. */
  async call(...command: string[]): Promise<unknown> {
    return await callRedis(this.url, ...command);
  }

  /** Ends it, stopped or not, and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#keeper?.exitCode === null) await this.kill("SIGKILL");
    this.#keeper?.stdin?.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #answers(): Promise<void> {
    const end = performance.now() + DEADLINE;
    while (!await hasAnswered(this.port)) {
      if (this.#keeper!.exitCode !== null || performance.now() > end) {
        throw new Error(`${REDIS_SERVER} does not start:\n${readFileSync(join(this.folder, "server.log"), "utf8")}`);
      }
      await delay(LOOK_AGAIN);
    }
  }
}

/** What a server answers to a command, on a connection for this one. */
export async function callRedis(url: string, ...command: string[]): Promise<unknown> {
  const client = createClient({ url, RESP: 2, maintNotifications: "disabled", socket: { reconnectStrategy: false } });
  client.on("error", () => {}); // what it is, the call says
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

/** Whether a server is there, has read its files, and answers: be it that it wants a password. */
async function hasAnswered(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  try {
    socket.write("PING\r\n");
    const [answer] = await once(socket, "data");
    return /^(\+PONG|-NOAUTH)/.test(String(answer));
  } catch {
    return false; // nobody listens yet
  } finally {
    socket.destroy();
  }
}
