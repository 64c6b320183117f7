/** Real Prometheus server for the tests, in a temporary folder and on a free loopback port. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, KEEPER, onPath } from "../keeper.ts";

/** Time limit in milliseconds, in case the server never answers. */
const DEADLINE = 60_000;
const LOOK_AGAIN = 20;

/** Path of the server's executable; `undefined` if it is not installed. */
export const PROMETHEUS: string | undefined = onPath("prometheus");

if (PROMETHEUS === undefined) console.log("There is no prometheus on the PATH: leaving out the tests with Prometheus.");

/** Sample in the result of a query. */
export interface Answer {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Prometheus that runs until the test process ends. */
export class Prometheus {
  readonly #folder = mkdtempSync(join(tmpdir(), "workqueue_prometheus_"));
  readonly #keeper: ChildProcess;
  readonly #url: string;
  #pid = 0;

  private constructor(port: number, config: string) {
    this.#url = `http://127.0.0.1:${port}`;
    writeFileSync(join(this.#folder, "prometheus.yml"), config);
    const options = {
      "config.file": "prometheus.yml",
      "storage.tsdb.path": "data",
      "web.listen-address": `127.0.0.1:${port}`,
    };
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    this.#keeper = spawn("sh", ["-c", KEEPER, "sh", PROMETHEUS!, ...words], {
      cwd: this.#folder,
      stdio: ["pipe", "pipe", "ignore"], // the shell would report on stderr that a process was killed
    });
  }

  /** Starts the server with a `prometheus.yml`, and waits until it answers. */
  static async start(config: string): Promise<Prometheus> {
    const server = new Prometheus(await freePort(), config);
    try {
      await server.#start();
    } catch (error) {
      server.#kill();
      throw error;
    }
    return server;
  }

  async #start(): Promise<void> {
    this.#keeper.stdin!.on("error", () => {}); // the process may already have ended
    const [pid] = await once(createInterface(this.#keeper.stdout!), "line");
    this.#pid = Number(pid);
    const end = performance.now() + DEADLINE;
    while (!await this.#isReady()) {
      if (this.#keeper.exitCode !== null || performance.now() > end) {
        const log = readFileSync(join(this.#folder, "server.log"), "utf8");
        throw new Error(`${PROMETHEUS} does not start:\n${log}`);
      }
      await delay(LOOK_AGAIN);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.#url}/-/ready`);
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false; // the server does not listen yet
    }
  }

  /** Returns the result of a query at the given time in seconds (default: now). Rejects with the error of the query. */
  async query(query: string, time?: number): Promise<Answer[]> {
    const body = new URLSearchParams({ query, ...(time !== undefined && { time: String(time) }) });
    const response = await fetch(`${this.#url}/api/v1/query`, { method: "POST", body });
    const { status, error, data } = await response.json() as {
      status: string;
      error?: string;
      data: { result: { metric: Record<string, string>; value: [time: number, value: string] }[] };
    };
    if (status !== "success") throw new Error(`${query}: ${error}`);
    return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  }

  /** Repeats a query until the result meets a condition. */
  async until(query: string, isSo: (answers: Answer[]) => boolean): Promise<void> {
    const end = performance.now() + DEADLINE;
    while (true) {
      const answers = await this.query(query);
      if (isSo(answers)) return;
      if (performance.now() > end) throw new Error(`${query} is still ${JSON.stringify(answers)}`);
      await delay(LOOK_AGAIN);
    }
  }

  #kill(): void {
    if (this.#keeper.exitCode === null && this.#pid !== 0) process.kill(this.#pid, "SIGKILL");
    this.#keeper.stdin?.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
