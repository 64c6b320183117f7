/** Helper for tests with other processes that tell what they do. */

import { fileURLToPath } from "node:url";
import { ALL_PACKAGES } from "./runtimes.ts";

/** Process of a program on Deno, and the lines that it has written. */
export class LineProcess {
  readonly pid: number;
  readonly lines: string[] = [];
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #child: Deno.ChildProcess;

  constructor(program: URL, ...args: string[]) {
    const options = ["run", "-A", "--no-check", "--config", ALL_PACKAGES, fileURLToPath(program), ...args];
    this.#child = new Deno.Command(Deno.execPath(), { args: options, stdout: "piped", stderr: "inherit" }).spawn();
    this.pid = this.#child.pid;
    this.ended = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
    }
    await this.#child.status;
  }

  /** Waits until the lines fulfil a condition. */
  async until(isThere: (lines: readonly string[]) => boolean): Promise<void> {
    while (!isThere(this.lines)) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}
