/** The list that a command is run for, and the process that works through it. */

import { BENCH } from "../machine.ts";

/** Disposing it removes the file. */
export class List implements Disposable {
  readonly #file = Deno.makeTempFileSync({ prefix: "workqueue_bench_" });

  /** So many lines, all different. */
  constructor(readonly length: number) {
    const lines = Array.from({ length }, (_, i) => `https://example.com/images/${i}.jpg\n`);
    for (let at = 0; at < length; at += 10_000) {
      Deno.writeTextFileSync(this.#file, lines.slice(at, at + 10_000).join(""), { append: true });
    }
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#file);
  }

  /** Starts a command that has the list as its standard input. The process is the command's own. */
  start(command: readonly string[], stdout: "null" | "piped"): Deno.ChildProcess {
    return new Deno.Command("sh", {
      args: ["-c", 'exec "$@" < "$0"', this.#file, ...command],
      cwd: BENCH,
      stdout,
      stderr: "null",
    }).spawn();
  }
}
