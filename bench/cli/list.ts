/** List of lines that a program reads as its standard input. */

import { BENCH } from "../machine.ts";

/** File with a list of lines. Disposing it removes the file. */
export class List implements Disposable {
  readonly #file = Deno.makeTempFileSync({ prefix: "workqueue_bench_" });

  /** Writes `length` different lines. */
  constructor(readonly length: number) {
    const lines = Array.from({ length }, (_, i) => `https://example.com/images/${i}.jpg\n`);
    for (let at = 0; at < length; at += 10_000) {
      Deno.writeTextFileSync(this.#file, lines.slice(at, at + 10_000).join(""), { append: true });
    }
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#file);
  }

  /** Starts a command with the list as its standard input. The returned process is the command itself, not a shell. */
  start(command: readonly string[], stdout: "null" | "piped"): Deno.ChildProcess {
    return new Deno.Command("sh", {
      args: ["-c", 'exec "$@" < "$0"', this.#file, ...command],
      cwd: BENCH,
      stdout,
      stderr: "null",
    }).spawn();
  }
}
