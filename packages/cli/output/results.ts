import { createHash, randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ByteBuffer } from "../children/byte_buffer.ts";
import type { ChildOutput } from "../children/child.ts";
import type { OutputSink } from "../children/child_output.ts";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeAllSync } from "../system/write_all.ts";

/** Number of bytes that are collected before they are written to a file. */
const MAX_PENDING = 65_536;
/** Longest name of a directory that all common file systems accept, in bytes. */
const MAX_NAME = 255;
/** Number of hexadecimal digits of the hash that a shortened name ends with. */
const HASH_DIGITS = 16;
const ESCAPES: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\0": "\\0", "/": "\\_" };

/** Attempt whose output is saved. */
export interface ResultAttempt {
  /** Line of the input. */
  readonly line: { readonly text: string; readonly number: number };
  /** Number of the attempt. */
  readonly attempt: number;
  /** Reports whether a later attempt of the item has begun. */
  isOutdated(): boolean;
}

/**
 * Directory with the output of each item's last attempt: `DIR/1/ITEM/stdout`, `stderr`, and `seq`, which contains the
 * number of the item. These are the names that GNU parallel uses.
 */
export class Results {
  readonly #path: string;
  /** Distinguishes the temporary files of this run from those of other runs that use the same directory. */
  readonly #id = randomUUID();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Creates the directory unless it exists.
   *
   * @throws {UsageError} If the directory can't be created.
   */
  static open(path: string): Results {
    const results = new Results(path);
    results.#try(() => mkdirSync(join(path, "1"), { recursive: true }));
    return results;
  }

  /** Returns a destination that saves the output of an attempt and passes the output on. */
  save(attempt: ResultAttempt, { stdout, stderr, onFailure }: ChildOutput): ChildOutput {
    const { line: { text, number } } = attempt;
    const directory = join(this.#path, "1", directoryName(text));
    const suffix = `.${number}.${attempt.attempt}.${this.#id}`; // equal lines can be separate items
    const files = {
      stdout: new ResultFile(directory, "stdout", suffix),
      stderr: new ResultFile(directory, "stderr", suffix),
    };
    let open = 2;
    const end = () => {
      if (--open > 0) return;
      try {
        if (attempt.isOutdated()) return;
        for (const file of Object.values(files)) file.flush();
        for (const file of Object.values(files)) file.save();
        writeFileSync(join(directory, "seq"), String(number));
      } finally {
        for (const file of Object.values(files)) file.drop();
      }
    };
    const copyTo = (file: ResultFile, sink: OutputSink | undefined): OutputSink => ({
      get pending() {
        return sink?.pending;
      },
      write: (chunk) => {
        this.#try(() => file.write(chunk));
        return sink?.write(chunk);
      },
      end: async () => {
        try {
          await sink?.end();
        } finally {
          this.#try(end);
        }
      },
    });
    return { stdout: copyTo(files.stdout, stdout), stderr: copyTo(files.stderr, stderr), onFailure };
  }

  #try(write: () => void): void {
    try {
      write();
    } catch (error) {
      throw new UsageError(`Cannot write results in '${this.#path}': ${describeSystemError(error, "directory")}`);
    }
  }
}

/** File that replaces an earlier file of the same name when it is complete. */
class ResultFile {
  readonly #directory: string;
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #bytes = new ByteBuffer();
  #fd: number | undefined = undefined;
  /** Whether the file exists under its temporary name. */
  #isTemporary = false;
  /** Error of the first failed write, after which the file can't be completed. */
  #error: unknown = undefined;

  /** Creates nothing yet. Until the file is complete, its name begins with a dot and ends with `suffix`. */
  constructor(directory: string, name: string, suffix: string) {
    this.#directory = directory;
    this.#path = join(directory, name);
    this.#temporaryPath = join(directory, `.${name}${suffix}`);
  }

  /** Adds bytes. */
  write(chunk: Uint8Array): void {
    this.#bytes.add(chunk);
    if (this.#bytes.length >= MAX_PENDING) this.flush();
  }

  /** Writes all bytes that were added. */
  flush(): void {
    if (this.#error !== undefined) throw this.#error;
    try {
      if (this.#fd === undefined) {
        mkdirSync(this.#directory, { recursive: true });
        this.#fd = openSync(this.#temporaryPath, "w");
        this.#isTemporary = true;
      }
      writeAllSync(this.#fd, this.#bytes.take());
    } catch (error) {
      this.#error = error;
      throw error;
    }
  }

  /** Replaces the earlier file. */
  save(): void {
    this.#close();
    renameSync(this.#temporaryPath, this.#path);
    this.#isTemporary = false;
  }

  /** Removes the file if it was not saved. */
  drop(): void {
    this.#close();
    if (this.#isTemporary) rmSync(this.#temporaryPath, { force: true });
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/**
 * Returns the name of an item's directory. Different items have different names, and no name leaves its parent
 * directory. The name is the name that GNU parallel uses, with these exceptions: `""`, `"."` and `".."` are escaped,
 * and a name that is too long ends with a hash of the item.
 *
 * @param item The item.
 * @param platform The operating system. Windows doesn't allow GNU parallel's names, so characters are written as `%XX`
 * there.
 */
export function directoryName(item: string, platform: string = process.platform): string {
  if (platform === "win32") {
    const escape = (char: string) => `%${(char.codePointAt(0) ?? 0).toString(16)}`;
    return shortened(item.replace(/[\p{Cc}<>:"/\\|?*%]|[. ]$|^$/gu, escape), item, "%~");
  }
  const name = item.replace(/[\\\t\0/]/g, (char) => ESCAPES[char]!);
  return shortened(/^\.{0,2}$/.test(name) ? `\\${name}` : name, item, "\\~");
}

/** Shortens a name that is too long. No other name contains the mark. */
function shortened(name: string, item: string, mark: string): string {
  if (new TextEncoder().encode(name).length <= MAX_NAME) return name;
  const end = mark + createHash("sha256").update(item).digest("hex").slice(0, HASH_DIGITS);
  const start = new Uint8Array(MAX_NAME - end.length);
  const { read } = new TextEncoder().encodeInto(name, start);
  return name.slice(0, read).replace(/\\+$|%.?$/, "") + end;
}
