/** Redis or Valkey server for tests: a real server in a temporary folder, on a free port of the loopback interface. */

import { RedisClient } from "@redis/client";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, KEEPER, onPath } from "../keeper.ts";

/** Timeout, in milliseconds, after which a test fails if the server has not answered. */
const DEADLINE = 60_000;
const LOOK_AGAIN = 5;
const CONFIG_FILE = "server.conf";

/** Path of the server's executable: the value of `WORKQUEUE_REDIS_SERVER`, or the first server found on the PATH. */
export const REDIS_SERVER: string | undefined = process.env["WORKQUEUE_REDIS_SERVER"] ??
  onPath("redis-server", "valkey-server");

/** Options for starting a server. */
export interface ServerOptions {
  /** Whether the server appends every write to a file and syncs the file before it answers. */
  appendonly?: boolean;
  /** Memory limit, such as `"2mb"`. */
  maxmemory?: string;
  /** Command-line options, such as `["--requirepass", "secret"]`. */
  args?: string[];
  /** Text of a config file, which the server may change. */
  config?: string;
}

/** Server that runs until it is disposed or the test process ends. */
export class RedisServer implements AsyncDisposable {
  /** Folder that contains the server's files: `server.log`, `appendonlydir/`, and `dump.rdb` after a `SAVE`. */
  readonly folder = mkdtempSync(join(tmpdir(), "workqueue_redis_"));
  readonly port: number;
  readonly #options: ServerOptions;
  #keeper: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  /** ID of the server process. */
  pid = 0;

  private constructor(port: number, options: ServerOptions) {
    this.port = port;
    this.#options = options;
    if (options.config !== undefined) writeFileSync(join(this.folder, CONFIG_FILE), options.config);
  }

  /** Starts a server and waits until it answers. */
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

  /** Starts the server, for the first time or after {@linkcode kill}, on its port and with the files in its folder. */
  async start(): Promise<void> {
    const { appendonly = false, maxmemory = "0", args = [], config } = this.#options;
    const options = { port: this.port, bind: "127.0.0.1", save: "", appendonly: appendonly ? "yes" : "no", maxmemory };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const file = config === undefined ? [] : [CONFIG_FILE];
    const command = [REDIS_SERVER!, ...file, ...words, "--appendfsync", "always", ...args];
    this.#keeper = spawn("sh", ["-c", KEEPER, "sh", ...command], {
      cwd: this.folder,
      stdio: ["pipe", "pipe", "ignore"], // the shell writes messages about killed processes to stderr
    });
    this.#ended = once(this.#keeper, "exit");
    this.#keeper.stdin!.on("error", () => {}); // the server may have exited by itself
    const [pid] = await once(createInterface(this.#keeper.stdout!), "line");
    this.pid = Number(pid);
    await this.#answers();
  }

  /** Sends a signal to the server. If the signal is `SIGKILL`, waits until the server has ended. */
  async kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    process.kill(this.pid, signal);
    if (signal === "SIGKILL") await this.#ended;
  }

  /** Lets this process exit while the server is running. When this process exits, the server ends too. */
  unref(): void {
    this.#keeper!.unref();
    // On Bun, these streams have no `unref`.
    for (const pipe of [this.#keeper!.stdin, this.#keeper!.stdout]) (pipe as Partial<Socket>).unref?.();
  }

  /** Kills the server and restarts it. Data that was not written to a file is lost. */
  async restart(): Promise<void> {
    await this.kill("SIGKILL");
    await this.start();
  }

  /** Runs a command such as `call("CLIENT", "LIST")` on a new connection and returns the reply. */
  async call(...command: string[]): Promise<unknown> {
    return await callRedis(this.url, ...command);
  }

  /** Ends the server, even if it is stopped by a signal, and removes its folder. */
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

const PROTOCOL = { RESP: 2 } as const;
const newClient = RedisClient.factory(PROTOCOL);

/** Client of a test. */
export type Client = ReturnType<typeof newClient>;

/**
 * Connects a client that reports errors only to its calls. All clients share one class: `createClient` would build a
 * class with all commands for each URL, which takes 35 ms.
 */
export async function connectClient(url: string, options: Parameters<typeof newClient>[0] = {}): Promise<Client> {
  const client = newClient({ url, maintNotifications: "disabled", ...options, ...PROTOCOL });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Runs a command on a new connection to the server and returns the reply. */
export async function callRedis(url: string, ...command: string[]): Promise<unknown> {
  const client = await connectClient(url, { socket: { reconnectStrategy: false } });
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

/**
 * Reports whether a server listens, has read its files, and answers. An error that asks for a password is an answer
 * too.
 */
async function hasAnswered(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  try {
    socket.write("PING\r\n");
    const [answer] = await Promise.race([once(socket, "data"), once(socket, "close")]);
    return /^(\+PONG|-NOAUTH)/.test(String(answer));
  } catch {
    return false; // the server doesn't listen yet
  } finally {
    socket.destroy();
  }
}
