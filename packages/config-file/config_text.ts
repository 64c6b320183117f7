import { ConfigError, type ConfigIssue } from "@workqueue/core";
import { withCode } from "@workqueue/core/internal";
import type { Format } from "./formats.ts";
import type { Parsed, Unparsed } from "./parsed.ts";

/** Parser of the texts of one config. Errors name the config and the place in it. */
export class ConfigText {
  /** Name of the config in messages. */
  readonly title: string;
  readonly #format: Format;

  /**
   * Creates a parser.
   *
   * @param name The name that the user gave; `undefined` for a config without a name.
   * @param format The format of the texts.
   */
  constructor(name: string | undefined, format: Format) {
    this.title = name === undefined ? "config" : `config '${name}'`;
    this.#format = format;
  }

  /**
   * Parses a text. Returns the document for `loadConfig`.
   *
   * @throws {ConfigError} If the text is not valid in its format.
   */
  parse(text: string): string | object {
    return this.#parse(text).document;
  }

  /**
   * Calls `take` with the document of a text. If the document is invalid, adds the name of the config and the places of
   * the problems to the error.
   *
   * @throws {ConfigError} If the text or the document is invalid.
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
    if (typeof document === "string" && name !== "JSON") { // the core would parse it as JSON
      const issue = { path: "", message: "it must be an object, got a text" };
      throw this.#error("load", [{ ...issue, ...locate(issue) }]);
    }
    return { document: document as string | object, locate }; // the core rejects everything else
  }

  #tryParse(text: string): Parsed | Unparsed {
    try {
      return this.#format.parse(text.replace(/^\uFEFF/, "")); // removes a byte order mark
    } catch (error) {
      const { name, message } = error as Error;
      if (name === "NotCapable") { // Deno requires a permission
        throw withCode("WQ_CONFIG", new Error(`Cannot read ${this.title}: ${message}`, { cause: error }));
      }
      return { problems: [{ path: "", message: error instanceof RangeError ? "it is nested too deeply" : message }] };
    }
  }

  #error(verb: "read" | "load" | "reload", issues: readonly ConfigIssue[]): ConfigError {
    return new ConfigError(`${verb} ${this.title}`, issues);
  }
}

/**
 * Reports whether a document has no members. In TOML, a text without content is an empty object. Other formats reject
 * such a text. It is an error because the file may be half written.
 */
function isEmpty(document: unknown): boolean {
  return Object.keys(document as object).length === 0;
}
