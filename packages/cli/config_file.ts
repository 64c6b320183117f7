import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { ConfigError, loadConfig, type MetricsProvider, type WorkQueueConfig } from "@workqueue/core";
import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { describeSystemError, UsageError } from "./usage_error.ts";

/** What a file of each kind says. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  ".json": keepText,
  ".jsonc": parseJsonc,
  ".yaml": parseYaml,
  ".yml": parseYaml,
  ".toml": parseTomlWithPlace,
};

/** For runs without a config: failures wait 100 ms, then twice as long each time, up to half a minute. */
const BUILT_IN_CONFIG = {
  queues: { default: { limiter: { type: "exponential", baseDelay: "100ms", maxDelay: "30s" } } },
};

/**
 * Loads a config file, of the format that its extension says.
 *
 * @param path The file; the built-in config if there is none.
 * @param metrics Where the queues' measurements go.
 * @returns What the file describes.
 * @throws {UsageError} If the file cannot be read or anything in it is wrong.
 */
export function loadConfigFile(path: string | undefined, metrics: MetricsProvider): WorkQueueConfig {
  if (path === undefined) return loadConfig(BUILT_IN_CONFIG, { metrics });
  const document = parse(path, read(path));
  try {
    return loadConfig(document as string | object, { metrics });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(new ConfigError(`load config '${path}'`, error.issues).message);
  }
}

/**
 * Picks a queue of a config: the one named; else the only one, else the one named "default".
 *
 * @param config The config.
 * @param name The name, if the user gave one.
 * @returns The queue's name. Whether there is a queue of a name that was given, `config` says.
 * @throws {UsageError} If no name was given and the config leaves it open.
 */
export function pickQueue({ queueNames }: WorkQueueConfig, name: string | undefined): string {
  if (name !== undefined) return name;
  if (queueNames.length === 1) return queueNames[0]!;
  if (queueNames.includes("default")) return "default";
  const choice = queueNames.length === 0 ? "none" : queueNames.map((queue) => `"${queue}"`).join(", ");
  throw new UsageError(`Cannot pick a queue as the config has ${choice}: name one with --queue`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`Cannot read config '${path}' as ${describeSystemError(error, "file")}`);
  }
}

function parse(path: string, text: string): unknown {
  const extension = extname(path).toLowerCase();
  const parser = PARSERS[extension];
  if (parser === undefined) {
    const known = Object.keys(PARSERS).join(", ");
    throw new UsageError(`Cannot read config '${path}' as its extension is none of ${known}`);
  }
  let document: unknown;
  try {
    document = parser(text);
  } catch (error) {
    // The first line says it all; what may follow is a picture of the place.
    const reason = (error as Error).message.split("\n", 1)[0]!.replace(/:$/, "");
    throw new UsageError(
      `Cannot read config '${path}' as it is not valid ${extension.slice(1).toUpperCase()}: ${reason}`,
    );
  }
  if (typeof document === "string" && parser !== keepText) { // the core would take it for JSON
    throw new UsageError(`Cannot load config '${path}' as it must be an object: received a text`);
  }
  return document;
}

/** JSON is left to the core. */
function keepText(text: string): string {
  return text;
}

/** By way of the tree: objects made of that have no prototype which a key `__proto__` could replace. */
function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const before = text.slice(0, first.offset).split("\n");
    const reason = printParseErrorCode(first.error);
    throw new SyntaxError(`${reason} at line ${before.length}, column ${before.at(-1)!.length + 1}`);
  }
  return tree && getNodeValue(tree);
}

function parseTomlWithPlace(text: string): unknown {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n", 1)[0]!.replace("Invalid TOML document: ", "");
    throw new SyntaxError(`${reason} at line ${error.line}, column ${error.column}`);
  }
}
