import { readFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "@workqueue/core";
import { invalidArgument } from "@workqueue/core/arguments";
import { PARSERS } from "./formats.ts";

/** A config file: where it is, how its text is understood, and how errors name it. */
export class ConfigFile {
  /** As the user named it, for messages. */
  readonly #name: string;
  /** Absolute, as a process may move to another directory. */
  readonly #path: string;
  readonly #extension: string;

  /**
   * Touches no file yet.
   *
   * @param path A path, or a `file:` URL.
   */
  constructor(path: string | URL) {
    this.#name = pathOf(path);
    this.#path = resolve(this.#name);
    this.#extension = extname(this.#path).toLowerCase();
    if (!Object.hasOwn(PARSERS, this.#extension)) {
      const known = Object.keys(PARSERS).join(", ");
      throw new Error(`Cannot read config '${this.#name}' as its extension is none of ${known}`);
    }
  }

  /** Reads the text. Throws, with the file named, if that is not possible. */
  read(): string {
    try {
      return withoutMark(readFileSync(this.#path, "utf8"));
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
      return withoutMark(await readFile(this.#path, "utf8"));
    } catch (error) {
      throw this.#readError(error);
    }
  }

  /** What a text of the file says, for `loadConfig`. Throws, with the file named, if it is not of the file's format. */
  parse(text: string): string | object {
    const parser = PARSERS[this.#extension]!;
    if (parser === "core") return text;
    let document: unknown;
    try {
      document = parser(text);
    } catch (error) {
      if ((error as Error).name === "NotCapable") throw this.#readError(error); // Deno asks for a permission
      // The first line says it all; what may follow is a picture of the place.
      const reason = (error as Error).message.split("\n", 1)[0]!.replace(/:$/, "");
      const format = this.#extension.slice(1).toUpperCase();
      throw new Error(`Cannot read config '${this.#name}' as it is not valid ${format}: ${reason}`, { cause: error });
    }
    if (typeof document === "string") { // the core would take it for JSON
      throw this.#error("load", [{ path: "", message: "it must be an object: received a text" }]);
    }
    return document as object; // the core refuses everything else
  }

  /** Runs what takes a document of this file. What is wrong in it is told with the file named. */
  named<R>(verb: "load" | "reload", run: () => R): R {
    try {
      return run();
    } catch (error) {
      throw error instanceof ConfigError ? this.#error(verb, error.issues) : error;
    }
  }

  #readError(cause: unknown): Error {
    return new Error(`Cannot read config '${this.#name}' as ${describeReadError(cause)}`, { cause });
  }

  #error(verb: "load" | "reload", issues: ConfigError["issues"]): ConfigError {
    return new ConfigError(`${verb} config '${this.#name}'`, issues);
  }
}

function pathOf(path: string | URL): string {
  if (typeof path === "string" && path !== "") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  const received = path instanceof URL ? path.href : path;
  throw invalidArgument("read config", "path", "must be a path or a file: URL", received);
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
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
