import type { ChildOutput } from "../children/child.ts";
import {
  errorWriter,
  lineWriter,
  type OutputContext,
  type OutputItem,
  type OutputSettings,
  type RunOutput,
} from "./run_output.ts";

/** Prints output by line, as soon as a command prints it. */
export class LineOutput implements RunOutput {
  readonly isFull = false;
  readonly isPrinting = false;
  readonly idle = undefined;
  readonly #settings: OutputSettings;
  readonly #context: OutputContext;

  /** Creates the output. */
  constructor(settings: OutputSettings, context: OutputContext) {
    this.#settings = settings;
    this.#context = context;
  }

  add(): void {}

  /** After the run is killed, the returned sinks no longer wait for output to be printed. */
  begin({ line: { text } }: OutputItem): ChildOutput {
    const { killed, onFailure } = this.#context;
    return {
      stdout: lineWriter(text, this.#settings, killed),
      stderr: this.#settings.stderr === "hide" ? undefined : errorWriter(text, this.#settings, killed),
      onFailure,
    };
  }

  discard(): void {}

  end(_item: OutputItem, onPrinted: () => void): void {
    onPrinted();
  }

  async finish(): Promise<void> {}
}
