/** Runs of the command in a process that the tests of an isolate share. */

import { deadline } from "@std/async";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { runtimes } from "../runtimes.ts";

/** Exit code and output of the CLI. */
export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** One run of the command. */
export interface Order {
  readonly args: readonly string[];
  readonly directory: string;
  /** Content of standard input, in base64. */
  readonly input: string;
  /** Text that ends the output. */
  readonly mark: string;
}

const PROCESS = fileURLToPath(new URL("shared_process.ts", import.meta.url));

/** Process that runs one command at a time. Its standard streams are read only during a run. */
export class SharedCommand {
  readonly #process: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stdout: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stderr: ReadableStreamDefaultReader<Uint8Array>;
  /** Whether no command is running. */
  isFree = true;

  private constructor(command: Deno.Command) {
    this.#process = command.spawn();
    this.#process.unref();
    this.#stdin = this.#process.stdin.getWriter();
    this.#stdout = this.#process.stdout.getReader();
    this.#stderr = this.#process.stderr.getReader();
  }

  /** Starts the process, which loads the command before its first run. It ends with this process. */
  static async start(): Promise<SharedCommand> {
    const [file, ...args] = await runtimes.Deno!();
    const streams = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    return new SharedCommand(new Deno.Command(file!, { args: [...args, "--no-check", PROCESS], ...streams }));
  }

  /**
   * Runs the command to its end.
   *
   * @param args The arguments after `workqueue`.
   * @param input The content of standard input.
   * @param directory The working directory.
   * @param time The longest time of a run, in milliseconds.
   */
  async run(args: readonly string[], input: string | Uint8Array, directory: string, time: number): Promise<Result> {
    this.isFree = false; // until the run has ended: no command runs after one that never ends
    const mark = `\n${crypto.randomUUID()} `;
    const order: Order = { args, directory, input: Buffer.from(input).toString("base64"), mark };
    const ended = Promise.all([
      textBefore(mark, this.#stdout),
      textBefore(mark, this.#stderr),
      this.#stdin.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`)),
    ]);
    const [[stdout, code], [stderr]] = await deadline(ended, time).catch((error) => {
      this.#process.kill("SIGKILL");
      throw error;
    });
    this.isFree = true;
    return { code: Number(code), stdout, stderr };
  }
}

/** Reads text up to a mark. Returns the text, and the rest of the line after the mark. */
async function textBefore(mark: string, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<[string, string]> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The process that tests share has ended: ${text}`);
    text += decoder.decode(value, { stream: true });
    const place = text.indexOf(mark, Math.max(0, text.length - value.length - 2 * mark.length));
    if (place >= 0 && text.endsWith("\n")) return [text.slice(0, place), text.slice(place + mark.length, -1)];
  }
}
