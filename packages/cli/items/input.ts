import { Buffer } from "node:buffer";
import { createReadStream, fstatSync, openSync } from "node:fs";
import process from "node:process";
import { Readable } from "node:stream";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { isBroken } from "./broken_arguments.ts";

/** List of items, open for reading. */
export interface Input {
  /** Bytes of the input. */
  readonly stream: Readable;
  /** Name of the input in messages. */
  readonly name: string;
  /** File descriptor; `undefined` if the input has none. */
  readonly fd: number | undefined;
  /** Fraction that has been read, from 0 to 1; `undefined` if the length is unknown. */
  readonly partRead: number | undefined;
}

/** Path that stands for standard input. */
export const STANDARD_INPUT = "-";

/**
 * Opens the input.
 *
 * @param path The path of the file; `-` is standard input.
 * @param standardInput The stream for `-`.
 * @returns The open input.
 * @throws {UsageError} If the file can't be opened.
 */
export function openInput(path: string, standardInput: Readable): Input {
  if (path === STANDARD_INPUT) {
    const fd = standardInput === process.stdin ? 0 : undefined;
    return { stream: standardInput, name: "standard input", fd, partRead: undefined };
  }
  try {
    const fd = openSync(path, "r");
    const stats = fstatSync(fd);
    const stream = createReadStream(path, { fd });
    return {
      stream,
      name: `input '${path}'`,
      fd,
      get partRead() {
        return stats.isFile() && stats.size > 0 ? Math.min(stream.bytesRead / stats.size, 1) : undefined;
      },
    };
  } catch (error) {
    throw new UsageError(`Cannot read input '${path}': ${describeSystemError(error, "file")}`);
  }
}

/** Line that is refused because it is not UTF-8, followed by NUL. */
const NOT_UTF8 = Buffer.from([0xff, 0]);

/** Opens a list of items from the command line. The bytes of the input are the items, each followed by NUL. */
export function openItems(items: readonly string[]): Input {
  // The runtime replaces bytes of an argument that are not UTF-8. Such an item becomes a line that is not UTF-8.
  const bytes = items.map((item) => isBroken(item) ? NOT_UTF8 : Buffer.from(`${item}\0`));
  return {
    stream: Readable.from([Buffer.concat(bytes)]),
    name: "the command line",
    fd: undefined,
    partRead: undefined,
  };
}

/**
 * Reads the input.
 *
 * @param input The open input.
 * @returns The bytes of the input, in chunks.
 * @throws {UsageError} If the input can't be read.
 */
export async function* bytesOf({ stream, name }: Input): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* stream;
  } catch (error) {
    throw new UsageError(`Cannot read ${name}: ${describeSystemError(error, "file")}`);
  }
}
