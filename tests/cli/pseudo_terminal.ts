/**
 * Runs the CLI on a pseudoterminal and reads its screen. The `script` command from util-linux creates the
 * pseudoterminal.
 */

import { commandOn, until, type Workspace } from "./cli.ts";
import { outputOf } from "../program.ts";
import { Screen } from "./screen.ts";

/** Time limit for the shell to end once the CLI was told to, in milliseconds. */
const END_GRACE = 5000;

/** Whether `script` from util-linux is installed. */
export const hasPseudoTerminals: boolean = (await outputOf("script", "--version"))?.includes("util-linux") === true;
if (!hasPseudoTerminals) {
  console.log("There is no script of util-linux on the PATH: leaving out the tests on a terminal.");
}

/** Pseudoterminal with the CLI running on it. */
export class PseudoTerminal implements AsyncDisposable {
  /** Resolves to the exit code when the CLI has ended. */
  readonly ended: Promise<number>;
  /** Bytes written to the terminal, as text. */
  output = "";
  readonly screen: Screen;
  readonly #workspace: Workspace;
  readonly #process: Deno.ChildProcess;
  readonly #keyboard: WritableStreamDefaultWriter<Uint8Array>;

  private constructor(process: Deno.ChildProcess, screen: Screen, workspace: Workspace) {
    this.#process = process;
    this.screen = screen;
    this.#workspace = workspace;
    this.#keyboard = process.stdin.getWriter();
    this.ended = this.#show();
  }

  /**
   * Starts the CLI on its own terminal.
   *
   * @param workspace The directory of the CLI.
   * @param args The arguments after `workqueue`.
   * @param options The size of the terminal, variables of the environment, and redirections. With `afterStop`, a shell
   * with job control starts the CLI, and runs this script when the CLI has stopped.
   */
  static async start(
    workspace: Workspace,
    args: string[],
    { columns = 80, rows = 24, env = {}, redirect = "", afterStop }: {
      columns?: number;
      rows?: number;
      env?: Record<string, string>;
      redirect?: string;
      afterStop?: string;
    } = {},
  ): Promise<PseudoTerminal> {
    const command = [...await commandOn(workspace.runtime), ...args];
    const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const start = afterStop === undefined
      ? `echo $$ > pid; exec ${quoted} ${redirect}`
      : `set -m; sh -c 'echo $$ > pid; exec "$@"' sh ${quoted} ${redirect}; ${afterStop}`;
    const line = `stty cols ${columns} rows ${rows}; tty > tty; ${start}`;
    const process = new Deno.Command("script", {
      args: ["--quiet", "--return", "--flush", "--command", line, "/dev/null"],
      cwd: workspace.directory,
      env: { SHELL: "/bin/sh", TERM: "xterm-256color", CI: "", NO_COLOR: "", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    return new PseudoTerminal(process, new Screen(columns, rows), workspace);
  }

  /** Types text. */
  async type(text: string): Promise<void> {
    await this.#keyboard.write(new TextEncoder().encode(text));
  }

  /** Waits until the rows on the screen meet a condition. */
  async until(isSeen: (rows: string[]) => boolean, what: string): Promise<void> {
    try {
      await until(() => isSeen(this.screen.rows), what);
    } catch (error) {
      throw new Error(`${(error as Error).message}; there is:\n${this.screen.rows.join("\n")}`);
    }
  }

  /** Changes the size of the window. */
  async resize(columns: number, rows: number): Promise<void> {
    this.screen.resize(columns, rows);
    const tty = this.#workspace.read("tty").trim();
    await new Deno.Command("stty", { args: ["-F", tty, "cols", `${columns}`, "rows", `${rows}`] }).output();
  }

  /** Sends a signal to the CLI. */
  kill(signal: Deno.Signal): void {
    Deno.kill(Number(this.#workspace.read("pid")), signal);
  }

  async #show(): Promise<number> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stdout) {
      this.output += decoder.decode(chunk, { stream: true });
      await this.screen.write(chunk);
    }
    return (await this.#process.status).code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.kill("SIGQUIT"); // the CLI ends its children
    } catch {
      // The CLI has ended.
    }
    await this.#keyboard.close().catch(() => {});
    // After a failed test, the shell may still wait for a file. Without `script`, the terminal hangs up on the shell.
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), END_GRACE);
    await this.ended;
    clearTimeout(timer);
  }
}
