/** Process of a server, with a folder for its data and its log. The process ends with this one at the latest. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { KEEPER } from "../../keeper.ts";

/** Longest time in milliseconds that a server takes until it answers. */
const DEADLINE = 180_000;
const LOOK_AGAIN = 50;

/** Server that can be killed and started again. */
export class ServerProcess {
  #keeper: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  /** ID of the process. */
  pid = 0;

  /** Makes a server that runs `command` in `folder`. */
  constructor(readonly folder: string, readonly command: readonly string[]) {
    mkdirSync(folder, { recursive: true });
  }

  /** Whether the process is running. */
  get isRunning(): boolean {
    return this.#keeper !== undefined && this.#keeper.exitCode === null;
  }

  /** Starts the process, with the data of its folder. */
  async start(): Promise<void> {
    this.#keeper = spawn("sh", ["-c", KEEPER, "sh", ...this.command], {
      cwd: this.folder,
      stdio: ["pipe", "pipe", "ignore"], // the shell writes messages about killed processes to stderr
    });
    this.#ended = once(this.#keeper, "exit");
    this.#keeper.stdin!.on("error", () => {}); // the server may have ended by itself
    const [pid] = await once(createInterface(this.#keeper.stdout!), "line");
    this.pid = Number(pid);
  }

  /** Waits until `answers` resolves to true. Rejects with the end of the log if that takes too long. */
  async ready(answers: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + DEADLINE;
    while (!await answers().catch(() => false)) {
      if (!this.isRunning || performance.now() > end) {
        throw new Error(`${this.command[0]} does not start:\n${this.log().slice(-4000)}`);
      }
      await delay(LOOK_AGAIN);
    }
  }

  /** Returns the text of the log. */
  log(): string {
    return readFileSync(join(this.folder, "server.log"), "utf8");
  }

  /** Sends a signal. For `SIGKILL`, waits until the process has ended. */
  async kill(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" = "SIGKILL"): Promise<void> {
    if (!this.isRunning) return;
    process.kill(this.pid, signal);
    if (signal === "SIGKILL") await this.#ended;
  }

  /** Kills the process. The folder stays. */
  async stop(): Promise<void> {
    await this.kill();
    this.#keeper?.stdin?.destroy();
  }
}
