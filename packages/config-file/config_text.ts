import { ConfigError, type ConfigIssue } from "@workqueue/core";
import { inspect, withCode } from "@workqueue/core/internal";
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
   * @throws {ConfigError} If the text is not valid in its format, or can't be a config. JSON is not checked.
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
    const message = name === "JSON" ? undefined : findFault(document, name); // the core parses JSON
    if (message !== undefined) {
      const issue = { path: "", message };
      throw this.#error("load", [{ ...issue, ...locate(issue) }]);
    }
    return { document: document as string | object, locate };
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

/** Returns why a document can't be a config at all; `undefined` if the core has to check it. */
function findFault(document: unknown, format: string): string | undefined {
  if (isEmpty(document, format)) return "it is empty";
  if (typeof document === "object" && document !== null) return undefined;
  // The core would parse a string as JSON
  return `it must be an object, got ${typeof document === "string" ? "a text" : inspect(document)}`;
}

/**
 * Reports whether a text has no content. That is an error because the file may be half written. In YAML, such a text is
 * `null`; in TOML, it is an object without members. JSONC rejects it.
 */
function isEmpty(document: unknown, format: string): boolean {
  return format === "YAML" ? document === null : format === "TOML" && Object.keys(document as object).length === 0;
}
