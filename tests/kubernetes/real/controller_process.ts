/** Process of a controller, and what it says of itself on its standard output: one event in JSON per line. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allRuntimes } from "../../runtimes.ts";

/** Something that happened in a controller. */
export interface ControllerEvent {
  /** Kind of the event: `synced`, `begin`, `end`, `cleanup`, `error`, `cache`, `ended`. */
  readonly event: string;
  /** Time of the event, as `Date.now()` has it. */
  readonly at: number;
  /** Key of the object. */
  readonly key?: string;
  readonly uid?: string;
  readonly version?: string;
  readonly message?: string;
  readonly code?: string;
  /** Versions of objects in the caches, by `KIND/KEY`. */
  readonly objects?: Record<string, string>;
}

/** Longest time in milliseconds that a test waits for something. */
const DEADLINE = 120_000;
const LOOK_AGAIN = 20;
const TICKS_PER_SECOND = 100;

/** Waits until `holds` returns something other than `false` or `undefined`, and returns it. */
export async function until<R>(
  holds: () => Promise<R> | R,
  message: () => string = () => holds.toString(),
  deadline = DEADLINE,
): Promise<Exclude<R, false | undefined>> {
  const end = performance.now() + deadline;
  for (;;) {
    const found = await holds();
    if (found !== false && found !== undefined) return found as Exclude<R, false | undefined>;
    if (performance.now() > end) throw new Error(`not within ${deadline / 1000} s: ${message()}`);
    await delay(LOOK_AGAIN);
  }
}

/** Process that runs until it is killed, or this process ends. */
export class ControllerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  /** Everything that the controller has said so far. */
  readonly events: ControllerEvent[] = [];
  /** Standard error of the process. */
  errors = "";

  /** Starts a program with further environment variables. */
  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(command[0]!, command.slice(1), {
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#ended = once(this.#child, "exit");
    this.#child.stdin!.on("error", () => {}); // the process may have ended
    createInterface(this.#child.stdout!).on("line", (line) => {
      if (line.startsWith("{")) this.events.push(JSON.parse(line) as ControllerEvent);
      else this.errors += `${line}\n`;
    });
    this.#child.stderr!.on("data", (text) => this.errors += text);
  }

  /** Starts the greeter on a runtime. */
  static async greeter(
    runtime: string,
    kubeconfig: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<ControllerProcess> {
    const script = fileURLToPath(new URL("greeter.ts", import.meta.url));
    const command = [...await allRuntimes[runtime]!(), script];
    return new ControllerProcess(command, { KUBECONFIG: kubeconfig, ...env });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Events of one kind. */
  of(event: string): ControllerEvent[] {
    return this.events.filter((one) => one.event === event);
  }

  /** Waits for an event. Rejects with the standard error if the process ends before. */
  async saw(event: string, deadline?: number): Promise<ControllerEvent> {
    return await until(
      () => {
        const found = this.events.find((one) => one.event === event);
        if (found === undefined && this.hasEnded) throw new Error(`the controller has ended:\n${this.errors}`);
        return found;
      },
      () => `${event} of the controller, which said:\n${this.errors.slice(-2000)}`,
      deadline,
    );
  }

  /** Asks for the content of the caches: versions of objects by `KIND/KEY`. */
  async cached(): Promise<Record<string, string>> {
    const before = this.of("cache").length;
    this.#child.stdin!.write("cache\n");
    return (await until(() => this.of("cache")[before], () => "content of the caches")).objects!;
  }

  /** Processor time in seconds so far. */
  cpu(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  /** Largest resident memory so far, in megabytes. */
  peak(): number {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))!;
    return Number(kilobytes) / 1024;
  }

  /** Sends a signal. */
  signal(signal: "SIGTERM" | "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    if (!this.hasEnded) process.kill(this.pid, signal); // on Deno, `kill` of the child says that it has ended
  }

  /** Waits until the process has ended. Returns its exit code. */
  async ended(): Promise<number | null> {
    if (!this.hasEnded) await this.#ended;
    return this.#child.exitCode;
  }

  /** Sends a signal, waits until the process has ended, and returns the milliseconds. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number> {
    const begin = performance.now();
    this.signal(signal);
    await this.ended();
    return performance.now() - begin;
  }

  /** Kills the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasEnded) await this.end("SIGKILL");
  }
}
