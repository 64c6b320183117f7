/** Runs the CLI in tmux, a real terminal multiplexer, and reads its window. */

import { commandOn, until, type Workspace } from "./cli.ts";

/** Content of the tmux window. */
export interface View {
  /** Rows visible in the window. */
  readonly screen: string[];
  /** Rows in the scrollback, followed by the rows in the window. */
  readonly all: string[];
}

async function run(args: string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("tmux", { args, ...(cwd && { cwd }) }).output();
  if (!success) throw new Error(`tmux ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Whether tmux is installed. */
export const hasTmux: boolean = await run(["-V"]).then(() => true, () => false);
if (!hasTmux) console.log("There is no tmux on the PATH: leaving out a test of the command in it.");

/**
 * Start of the command line of an interactive shell with job control, for {@linkcode Tmux.start}. In this shell,
 * `workqueue` runs the CLI with the given arguments.
 */
export const INTERACTIVE_SHELL: readonly string[] = [
  "bash",
  "-c",
  `{ echo "PS1='$ '; workqueue() {"; printf "%q " "$@"; echo "; }"; } > rc; exec bash --noprofile --rcfile rc -i`,
  "bash",
];

/** tmux server whose window runs the CLI. Disposing it ends the server and the CLI. */
export class Tmux implements AsyncDisposable {
  readonly #workspace: Workspace;
  readonly #server: string[];

  private constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#server = ["-S", `${workspace.directory}/tmux`, "-f", "/dev/null", "-u"];
  }

  /**
   * Starts the CLI in a window of 80 × 24.
   *
   * @param workspace The directory of the CLI.
   * @param args The arguments after `workqueue`.
   * @param shell The start of the command line of the shell that starts the CLI. Default: a shell that the CLI
   * replaces.
   */
  static async start(
    workspace: Workspace,
    args: string[],
    shell: readonly string[] = ["sh", "-c", 'echo $$ > pid; exec "$@"', "sh"],
  ): Promise<Tmux> {
    const tmux = new Tmux(workspace);
    const command = [
      "env",
      ...["TERM=tmux-256color", "CI=", "NO_COLOR="],
      ...shell,
      ...await commandOn(workspace.runtime),
      ...args,
    ];
    await tmux.#run(["new-session", "-d", "-x", "80", "-y", "24", ...command]);
    return tmux;
  }

  #run(args: string[]): Promise<string> {
    return run([...this.#server, ...args], this.#workspace.directory);
  }

  /** Waits until the window meets a condition. Returns the window's content. */
  async until(isSeen: (view: View) => boolean, what: string): Promise<View> {
    let view: View = { screen: [], all: [] };
    const rows = async (from: string) => (await this.#run(["capture-pane", "-p", "-S", from])).split("\n");
    const look = async () => {
      view = { screen: await rows("0"), all: await rows("-") };
      return isSeen(view);
    };
    try {
      await until(look, what, 50);
    } catch (error) {
      throw new Error(`${(error as Error).message}; there is:\n${view.all.join("\n")}`);
    }
    return view;
  }

  /** Types text, or presses a key such as `"C-z"` or `"Enter"`. */
  async press(...keys: string[]): Promise<void> {
    await this.#run(["send-keys", ...keys]);
  }

  /** Changes the size of the window. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.#run(["resize-window", "-x", String(columns), "-y", String(rows)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      Deno.kill(Number(this.#workspace.read("pid")), "SIGQUIT"); // the CLI ends its children
    } catch {
      // The CLI has ended, or was never started.
    }
    await until(() => this.#run(["list-sessions"]).then(() => false, () => true), "tmux has ended", 50);
  }
}
