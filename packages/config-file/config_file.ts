import { type Buffer, isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { invalidArgument, withCode } from "@workqueue/core/internal";
import { ConfigText } from "./config_text.ts";
import { FORMATS_BY_EXTENSION } from "./formats.ts";

/** Config file: its path, and a parser for its content. */
export class ConfigFile {
  /** Parser for the file's content. */
  readonly content: ConfigText;
  /** Absolute path of the file. A relative path would depend on the working directory, which can change. */
  readonly #path: string;

  /**
   * Creates a config file without accessing the file.
   *
   * @param path The path, or a `file:` URL.
   * @param word The word for the document in messages.
   * @throws {Error} If the extension is not supported.
   * @throws {TypeError} If `path` is neither a non-empty string nor a `file:` URL.
   */
  constructor(path: string | URL, word = "config") {
    const name = pathOf(path);
    this.#path = resolve(name);
    const extension = extname(this.#path).toLowerCase();
    if (!Object.hasOwn(FORMATS_BY_EXTENSION, extension)) {
      const known = Object.keys(FORMATS_BY_EXTENSION).join(", ");
      throw withCode("WQ_CONFIG", new Error(`Cannot read ${word} '${name}': its extension is none of ${known}`));
    }
    this.content = new ConfigText(name, FORMATS_BY_EXTENSION[extension]!, word);
  }

  /**
   * Reads the file's text.
   *
   * @throws {Error} If the file can't be read. The message includes the file's name.
   */
  read(): string {
    try {
      return decode(readFileSync(this.#path));
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /**
   * Reads the file's text without blocking, because the file might be on a network file system that hangs.
   *
   * @throws {Error} If the file can't be read. The message includes the file's name.
   */
  async readLater(): Promise<string> {
    try {
      const found = await stat(this.#path);
      // A read from a pipe might never end, and would then keep the process alive.
      if (!found.isFile() && !found.isDirectory()) throw new Error("it is not a regular file");
      return decode(await readFile(this.#path));
    } catch (error) {
      throw this.#readError(error);
    }
  }

  #readError(cause: unknown): Error {
    const message = `Cannot read ${this.content.title}: ${describeReadError(cause)}`;
    return withCode("WQ_CONFIG", new Error(message, { cause }));
  }
}

function pathOf(path: string | URL): string {
  if (typeof path === "string" && path !== "") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  const received = path instanceof URL ? path.href : path;
  throw invalidArgument("read config", "path", "must be a path or a file: URL", received);
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error("it is not UTF-8"); // a wrongly decoded name could be another queue's name
  return bytes.toString();
}

function describeReadError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    case "ENOTDIR":
      return "part of its path is not a directory";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    default:
      return message;
  }
}
