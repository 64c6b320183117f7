import { createReadStream, openSync } from "node:fs";
import process from "node:process";
import type { Readable } from "node:stream";
import { describeSystemError, UsageError } from "../system/usage_error.ts";

/** What the items are read from. */
export interface Input {
  /** Its bytes. */
  readonly stream: Readable;
  /** What it is called in a message. */
  readonly name: string;
  /** The open file; `undefined` if it is none. */
  readonly fd: number | undefined;
}

/** Stands for standard input in place of a path. */
export const STANDARD_INPUT = "-";

/**
 * Opens the input.
 *
 * @param path The file, or `-` for standard input.
 * @param standardInput What standard input is.
 * @returns The open input.
 * @throws {UsageError} If the file cannot be opened.
 */
export function openInput(path: string, standardInput: Readable): Input {
  if (path === STANDARD_INPUT) {
    return { stream: standardInput, name: "standard input", fd: standardInput === process.stdin ? 0 : undefined };
  }
  try {
    const fd = openSync(path, "r");
    return { stream: createReadStream(path, { fd }), name: `input '${path}'`, fd };
  } catch (error) {
    throw new UsageError(`Cannot read input '${path}' as ${describeSystemError(error, "file")}`);
  }
}
