import type { ChildOutput } from "../children/child.ts";
import { LineWriter } from "../children/child_output.ts";
import { orAborted } from "../system/or_aborted.ts";

/**
 * Order in which output is printed: by `line`, as soon as a command prints it; by `group`, all output of an item when
 * the item has ended; or by group in `input order`.
 */
export type OutputMode = "line" | "group" | "input order";

/** Settings for the output of commands. */
export interface OutputSettings {
  /** Whether to print the item before each line of standard output. */
  readonly isTagged: boolean;
  /**
   * Destination of the commands' standard error: `pass` prints it together with the item's output, `live` prints it
   * immediately, and `hide` doesn't print it.
   */
  readonly stderr: "pass" | "live" | "hide";
  /** Prints whole lines of standard output. If the returned promise rejects, the run ends with the error. */
  print(lines: Uint8Array): Promise<void>;
  /** Prints whole lines of an item's standard error. Errors are ignored. */
  printError(item: string, lines: Uint8Array): Promise<void>;
}

/** Parts of a run that its output uses. */
export interface OutputContext {
  /** Aborts when running commands must be killed. */
  readonly killed: AbortSignal;
  /** Called with an error after which the run must end. Ignores errors after the run was killed. */
  onFailure(error: unknown): void;
}

/** Item with output. */
export interface OutputItem {
  /** Line of the input. */
  readonly line: { readonly text: string };
}

/** Prints the output of the items of a run. */
export interface RunOutput {
  /** Whether no more items may be added until more output has been printed. */
  readonly isFull: boolean;
  /** Whether output of ended items is being printed. */
  readonly isPrinting: boolean;
  /** Resolves when all output that can be printed for now is printed; `undefined` if it is printed immediately. */
  readonly idle: Promise<void> | undefined;
  /** Adds an item. Items are added in the order of the input. */
  add(item: OutputItem): void;
  /** Returns the destination for the output of an item's next attempt. */
  begin(item: OutputItem): ChildOutput;
  /** Drops the output of an item that was not printed yet. */
  discard(item: OutputItem): void;
  /** Ends an item after all output of its last attempt was received. Calls `onPrinted` when its output is printed. */
  end(item: OutputItem, onPrinted: () => void): void;
  /** Prints the output of all ended items, and closes everything. No item may be ended afterwards. */
  finish(): Promise<void>;
}

/** Returns a writer that prints standard output of an item. The writer fails when the signal aborts. */
export function lineWriter(item: string, { isTagged, print }: OutputSettings, signal: AbortSignal): LineWriter {
  return new LineWriter((lines) => orAborted(print(lines), signal), isTagged ? `${item}\t` : "");
}

/** Returns a writer that prints standard error of an item. The writer ignores errors. */
export function errorWriter(item: string, { printError }: OutputSettings, signal: AbortSignal): LineWriter {
  return new LineWriter((lines) => orAborted(printError(item, lines), signal).catch(() => {}));
}
