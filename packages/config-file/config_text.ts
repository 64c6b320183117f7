import { ConfigError, type ConfigIssue } from "@workqueue/core";
import { escapePointer, inspect, isPlainObject, withCode } from "@workqueue/core/internal";
import type { Format } from "./formats.ts";
import type { Parsed, Unparsed } from "./parsed.ts";

/** Parser for one config, whose text may change. Errors include the config's name and the location of each problem. */
export class ConfigText {
  /** Name of the config in messages. */
  readonly title: string;
  readonly #format: Format;

  /**
   * Creates a parser.
   *
   * @param name The name of the config, or `undefined` for a config without a name.
   * @param format The format of the text.
   * @param word The word for the document in messages.
   */
  constructor(name: string | undefined, format: Format, word = "config") {
    this.title = name === undefined ? word : `${word} '${name}'`;
    this.#format = format;
  }

  /**
   * Parses the text. Returns the document for `loadConfig`.
   *
   * @throws {ConfigError} If the text is not valid in its format, or if it can't be a config.
   */
  parse(text: string): object {
    return this.#parse(text).document;
  }

  /**
   * Parses the text and calls `take` with the document. If the document is invalid, adds the config's name and the
   * locations of the problems to the error.
   *
   * @throws {ConfigError} If the text or the document is invalid.
   */
  run<R>(verb: "load" | "read" | "reload", text: string, take: (document: object) => R): R {
    const { document, locate } = this.#parse(text);
    try {
      return take(document);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw this.#error(verb, error.issues.map((issue) => ({ ...issue, ...locate(issue) })));
    }
  }

  #parse(text: string): Parsed & { readonly document: object } {
    const { name } = this.#format;
    const parsed = this.#tryParse(text);
    if ("problems" in parsed) {
      const describe = (message: string) => `it is not valid ${name}: ${message}`;
      throw this.#error("read", parsed.problems.map((issue) => ({ ...issue, message: describe(issue.message) })));
    }
    const { document, locate } = parsed;
    const issues = findFaults(document, name);
    if (issues.length > 0) throw this.#error("load", issues.map((issue) => ({ ...issue, ...locate(issue) })));
    return { document: document as object, locate };
  }

  #tryParse(text: string): Parsed | Unparsed {
    try {
      return this.#format.parse(text.replace(/^\uFEFF/, "")); // removes a byte order mark
    } catch (error) {
      const { name, message } = error as Error;
      if (name === "NotCapable") { // on Deno, a permission is missing
        throw withCode("WQ_CONFIG", new Error(`Cannot read ${this.title}: ${message}`, { cause: error }));
      }
      return { problems: [{ path: "", message: error instanceof RangeError ? "it is nested too deeply" : message }] };
    }
  }

  #error(verb: "read" | "load" | "reload", issues: readonly ConfigIssue[]): ConfigError {
    return new ConfigError(`${verb} ${this.title}`, issues);
  }
}

/** Returns the reasons why a document can't be a config. If there are none, the core checks the document. */
function findFaults(document: unknown, format: string): ConfigIssue[] {
  if (isEmpty(document, format)) return [{ path: "", message: "it is empty" }];
  if (typeof document === "object" && document !== null) return findForeign(document);
  // The core would parse a string as JSON.
  const received = typeof document === "string" ? "a text" : inspect(document);
  return [{ path: "", message: `it must be an object, got ${received}` }];
}

/**
 * Finds values that JSON doesn't have: dates in TOML, and some values with tags in YAML, such as sets. Doesn't use
 * recursion, because dotted names in TOML can be nested without limit.
 */
function findForeign(document: object): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const found = new Map([[document, ""]]); // paths by object; in YAML, an object may have several paths
  for (const [object, path] of found) {
    if (object instanceof Date) issues.push({ path, message: "dates and times must be in quotes" });
    else if (!Array.isArray(object) && !isPlainObject(object)) issues.push({ path, message: "JSON has no such value" });
    else {
      for (const [name, value] of Object.entries(object)) {
        const isNew = typeof value === "object" && value !== null && !found.has(value);
        if (isNew) found.set(value, `${path}/${escapePointer(name)}`);
      }
    }
  }
  return issues;
}

/**
 * Reports whether a document is the result of parsing a file that is empty or has only comments. This is an error,
 * because the file might be only half written. For such a file, the YAML parser returns `null`, the TOML parser returns
 * an object without members, and the JSONC parser reports an error.
 */
function isEmpty(document: unknown, format: string): boolean {
  return format === "YAML" ? document === null : format === "TOML" && Object.keys(document as object).length === 0;
}
