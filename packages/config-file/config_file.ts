import { type Buffer, isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { invalidArgument, withCode } from "@workqueue/core/internal";
import { ConfigText } from "./config_text.ts";
import { FORMATS_BY_EXTENSION } from "./formats.ts";

/** A config file: where it is, and how its texts are understood. */
export class ConfigFile {
  /** What its texts say. */
  readonly content: ConfigText;
  /** Absolute, as a process may move to another directory. */
  readonly #path: string;

  /**
   * Touches no file yet.
   *
   * @param path A path, or a `file:` URL.
   */
  constructor(path: string | URL) {
    const name = pathOf(path);
    this.#path = resolve(name);
    const extension = extname(this.#path).toLowerCase();
    if (!Object.hasOwn(FORMATS_BY_EXTENSION, extension)) {
      const known = Object.keys(FORMATS_BY_EXTENSION).join(", ");
      throw withCode("WQ_CONFIG", new Error(`Cannot read config '${name}' as its extension is none of ${known}`));
    }
    this.content = new ConfigText(name, FORMATS_BY_EXTENSION[extension]!);
  }

  /** Reads the text. Throws, with the file named, if that is not possible. */
  read(): string {
    try {
      return decode(readFileSync(this.#path));
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /** The same, while the program goes on: a file may be on a network that hangs. */
  async readLater(): Promise<string> {
    try {
      const found = await stat(this.#path);
      // A pipe would be waited for, for ever perhaps, and so would the process that wants to end.
      if (!found.isFile() && !found.isDirectory()) throw new Error("it is no regular file");
      return decode(await readFile(this.#path));
    } catch (error) {
      throw this.#readError(error);
    }
  }

  #readError(cause: unknown): Error {
    const message = `Cannot read ${this.content.title} as ${describeReadError(cause)}`;
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
  if (!isUtf8(bytes)) throw new Error("it is not UTF-8"); // half a name may be that of another queue
  return bytes.toString();
}

function describeReadError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "permission was denied";
    case "EISDIR":
      return "it is a directory";
    case "ENOTDIR":
      return "a part of its path is no directory";
    case "EMFILE":
    case "ENFILE":
      return "too many files are open";
    default:
      return message;
  }
}
