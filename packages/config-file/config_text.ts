import { ConfigError, type ConfigIssue } from "@workqueue/core";
import { withCode } from "@workqueue/core/internal";
import type { Format } from "./formats.ts";
import type { Parsed, Unparsed } from "./parsed.ts";

/** Texts of one config: how they are understood, and how errors name the config and the places in it. */
export class ConfigText {
  /** What the config is called in messages. */
  readonly title: string;
  readonly #format: Format;

  /**
   * @param name As the user named it; `undefined` for one without a name.
   * @param format What its texts are written in.
   */
  constructor(name: string | undefined, format: Format) {
    this.title = name === undefined ? "config" : `config '${name}'`;
    this.#format = format;
  }

  /** What a text says, for `loadConfig`. Throws what is wrong with it if it is not of the format. */
  parse(text: string): string | object {
    return this.#parse(text).document;
  }

  /**
   * Runs what takes the document that a text says. What is wrong in that is told with the config named, and with its
   * place in the text.
   */
  run<R>(verb: "load" | "reload", text: string, take: (document: string | object) => R): R {
    const { document, locate } = this.#parse(text);
    try {
      return take(document);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw this.#error(verb, error.issues.map((issue) => ({ ...issue, ...locate(issue) })));
    }
  }

  #parse(text: string): Parsed & { readonly document: string | object } {
    const { name } = this.#format;
    const parsed = this.#tryParse(text);
    if ("problems" in parsed) {
      const describe = (message: string) => `it is not valid ${name}: ${message}`;
      throw this.#error("read", parsed.problems.map((issue) => ({ ...issue, message: describe(issue.message) })));
    }
    const { document, locate } = parsed;
    if (name === "TOML" && isEmpty(document)) throw this.#error("load", [{ path: "", message: "it is empty" }]);
    if (typeof document === "string" && name !== "JSON") { // the core would take it for JSON
      const issue = { path: "", message: "it must be an object: received a text" };
      throw this.#error("load", [{ ...issue, ...locate(issue) }]);
    }
    return { document: document as string | object, locate }; // the core refuses everything else
  }

  #tryParse(text: string): Parsed | Unparsed {
    try {
      return this.#format.parse(text.replace(/^\uFEFF/, "")); // without a byte order mark
    } catch (error) {
      const { name, message } = error as Error;
      if (name === "NotCapable") { // Deno asks for a permission
        throw withCode("WQ_CONFIG", new Error(`Cannot read ${this.title} as ${message}`, { cause: error }));
      }
      return { problems: [{ path: "", message: error instanceof RangeError ? "it is nested too deeply" : message }] };
    }
  }

  #error(verb: "read" | "load" | "reload", issues: readonly ConfigIssue[]): ConfigError {
    return new ConfigError(`${verb} ${this.title}`, issues);
  }
}

/** In TOML, a text without content is an empty object. Other formats refuse such a text: a file may be half written. */
function isEmpty(document: unknown): boolean {
  return Object.keys(document as object).length === 0;
}
