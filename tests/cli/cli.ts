/** Helpers that run the CLI as a process in its own directory. */

import { deadline, delay } from "@std/async";
import { fileURLToPath } from "node:url";
import type { ItemReport, ReportHeader } from "../../packages/cli/report/records.ts";
import { installed, type Runtime } from "../../release/installed.ts";
import { EVERY } from "../every.ts";
import { runtimes as ofClone } from "../runtimes.ts";
import { commandOfClone } from "./bundled_command.ts";
import { type Result, SharedCommand } from "./shared_command.ts";

/**
 * Whether to test the installed command: `WORKQUEUE_INSTALLED=1 deno task test tests/cli/`. The Node on the PATH must
 * be 22.13 or later, because the tests use queues in files.
 */
const isInstalled = Deno.env.has("WORKQUEUE_INSTALLED");

/** Runtimes on which the command is tested. */
export const runtimes: typeof ofClone = isInstalled ? { ...ofClone, Node: () => installed("Node") } : ofClone;

/** Deno, with a process for each command. */
export const OWN_PROCESS = "Deno";
/** Deno, with one process for all commands of {@linkcode Workspace.run} that aren't started by a script. */
const SHARED = "Deno, one process";
/** Runtime of tests that run alike on each runtime. */
const USUAL = EVERY || isInstalled ? OWN_PROCESS : SHARED;

/** Runtimes for tests of code that runs alike on each runtime, such as the reading of options. */
export const someRuntimes: typeof ofClone = EVERY ? runtimes : { [USUAL]: runtimes.Deno! };

/** Process for tests on {@linkcode SHARED}, started before the tests because it outlives each of them. */
const sharedCommand = USUAL === SHARED ? await SharedCommand.start() : undefined;

/** Path of the repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const DEADLINE = 120_000;
/** Time limit for a CLI to end its children, in milliseconds. */
const END_GRACE = 5000;

/** CLI process, running or ended. */
export class Cli {
  /** Output so far. */
  stdout = "";
  stderr = "";
  readonly ended: Promise<Result>;
  readonly #process: Deno.ChildProcess;

  constructor(command: Deno.Command, input: string | Uint8Array) {
    this.#process = command.spawn();
    const { stdin, stdout, stderr, status } = this.#process;
    const writer = stdin.getWriter();
    // A CLI may exit before it has read all of its input.
    const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
    writer.write(bytes).then(() => writer.close()).catch(() => {});
    const ended = Promise.all([
      status,
      forEachText(stdout, (text) => this.stdout += text),
      forEachText(stderr, (text) => this.stderr += text),
    ]);
    this.ended = deadline(ended, DEADLINE).then(([{ code }]) => {
      return { code, stdout: this.stdout, stderr: this.stderr };
    });
  }

  kill(signal: Deno.Signal): void {
    this.#send(this.#process.pid, signal);
  }

  /** Ends the CLI, the shell that started it and all their children, for example after a failed test. */
  async end(): Promise<void> {
    this.#send(-this.#process.pid, "SIGQUIT"); // the CLI ends its children, which run in separate process groups
    await deadline(this.ended, END_GRACE).catch(() => {});
    this.#send(-this.#process.pid, "SIGKILL");
    await this.ended.catch(() => {}); // the test has already received the error
  }

  #send(pid: number, signal: Deno.Signal): void {
    try {
      Deno.kill(pid, signal);
    } catch {
      // The process has ended.
    }
  }
}

async function forEachText(stream: ReadableStream<Uint8Array>, callback: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) callback(decoder.decode(chunk, { stream: true }));
}

/**
 * Returns the start of the command line, for the command in the clone or the installed command. Node always runs the
 * installed command.
 */
export async function commandOn(runtime: string): Promise<string[]> {
  if (runtime === "Node" || isInstalled) return await installed(runtime as Runtime);
  return await commandOfClone(runtime === SHARED ? OWN_PROCESS : runtime);
}

/** Directory for one test, and the CLIs running in it. Disposing it ends the CLIs and removes the directory. */
export class Workspace implements AsyncDisposable {
  readonly directory = Deno.makeTempDirSync({ prefix: "workqueue_" });
  readonly #started: Cli[] = [];

  constructor(readonly runtime: string = USUAL) {}

  write(file: string, text: string): void {
    Deno.writeTextFileSync(`${this.directory}/${file}`, text);
  }

  read(file: string): string {
    return Deno.readTextFileSync(`${this.directory}/${file}`);
  }

  files(): string[] {
    return [...Deno.readDirSync(this.directory)].map(({ name }) => name).sort();
  }

  has(file: string): boolean {
    return this.files().includes(file);
  }

  /** Returns a report's item records, sorted by item. */
  report(file = "report.jsonl"): ItemReport[] {
    const lines = this.read(file).split("\n");
    if (lines.pop() !== "") throw new Error("The report does not end with a line feed");
    const records = lines.map((line) => JSON.parse(line)) as (ReportHeader | ItemReport)[];
    return records.filter((record) => "item" in record).sort((a, b) => a.item < b.item ? -1 : 1);
  }

  /**
   * Starts the CLI.
   *
   * @param args The arguments after `workqueue`.
   * @param input The content of standard input.
   * @param script A shell script that starts the CLI. In the script, `"$@"` stands for the command line of the CLI.
   */
  async start(args: string[], input: string | Uint8Array = "", script?: string): Promise<Cli> {
    const whole = [...await commandOn(this.runtime), ...args];
    const [file, ...rest] = script === undefined ? whole : ["sh", "-c", script, "sh", ...whole];
    const command = new Deno.Command(file!, {
      args: rest,
      cwd: this.directory,
      detached: true, // its own process group, which can be killed as a whole
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    const cli = new Cli(command, input);
    this.#started.push(cli);
    return cli;
  }

  /** Runs the CLI to its end. */
  async run(args: string[], input?: string | Uint8Array, script?: string): Promise<Result> {
    if (this.runtime === SHARED && script === undefined && sharedCommand?.isFree) {
      return await sharedCommand.run(args, input ?? "", this.directory, DEADLINE);
    }
    const cli = await this.start(args, input, script);
    return await cli.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cli of this.#started) await cli.end();
    await removeFolder(this.directory);
  }
}

/** Removes a folder in which {@linkcode sharedCommand} may be removing the log of a queue's file at this moment. */
async function removeFolder(folder: string): Promise<void> {
  for (let tries = 100;; tries--) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (tries === 0) throw error;
      await delay(10);
    }
  }
}

/**
 * Part of a script for {@linkcode Workspace.start} that runs the CLI and writes the CLI's process id to the file `pid`.
 */
export const WITH_PID = `sh -c 'echo $$ > pid.new; mv pid.new pid; exec "$@"' sh "$@"`;
/**
 * Part of a script for {@linkcode Workspace.start} that writes the exit code of the previous command to the file
 * `code`. The file is never visible without its content.
 */
export const TELL_CODE = "echo $? > code.new; mv code.new code";

/** Returns a config with one queue that delays failed items by one millisecond. */
export function quickConfig(queue: Record<string, unknown> = {}): string {
  const limiter = { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" };
  return JSON.stringify({ queues: { quick: { limiter, ...queue } } });
}

/**
 * Waits until a condition is true; throws after a deadline.
 *
 * @param pause Time between two checks in milliseconds. A check that starts a process needs a longer time.
 */
export async function until(condition: () => boolean | Promise<boolean>, what: string, pause = 10): Promise<void> {
  const start = Date.now();
  while (!await condition()) {
    if (Date.now() - start > DEADLINE) throw new Error(`Waited too long until ${what}`);
    await delay(pause);
  }
}

/** Reports whether a process is running. A zombie is treated as ended. */
export async function isRunning(pid: string): Promise<boolean> {
  const state = await stateOf(pid);
  return state !== "" && !state.startsWith("Z");
}

/** Reports whether a process is stopped, as by Ctrl-Z. */
export async function isStopped(pid: string): Promise<boolean> {
  return (await stateOf(pid)).startsWith("T");
}

/**
 * Returns the state of a process as one letter and maybe more text; an empty string if the process is gone, or ended
 * before it had written its number.
 */
async function stateOf(pid: string): Promise<string> {
  if (pid.trim() === "") return "";
  return Deno.build.os === "linux" ? await readState(pid.trim()) : await askForState(pid.trim());
}

/**
 * Reads the state of a process from `/proc`, because minimal Linux systems have no `ps`. In the file, the state follows
 * the process name, which is in parentheses.
 */
async function readState(pid: string): Promise<string> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => ") ");
  return stat.slice(stat.lastIndexOf(")") + 2);
}

async function askForState(pid: string): Promise<string> {
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "stat=", "-p", pid] }).output();
  return new TextDecoder().decode(stdout).trim();
}
