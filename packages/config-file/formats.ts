import { parseJson, parseJsonc } from "./json.ts";
import type { Parsed, Unparsed } from "./parsed.ts";
import { parseToml } from "./toml.ts";
import { parseYaml } from "./yaml.ts";

/** Format of a config. */
export type ConfigFormat = "json" | "jsonc" | "yaml" | "toml";

/** Name and parser of a format. */
export interface Format {
  /** Name of the format in messages. */
  readonly name: string;
  /** Parses a text. Returns the document, or the problems if the text is invalid. */
  parse(text: string): Parsed | Unparsed;
}

/** Formats by name. */
export const FORMATS: Readonly<Record<ConfigFormat, Format>> = {
  json: { name: "JSON", parse: parseJson },
  jsonc: { name: "JSONC", parse: parseJsonc },
  yaml: { name: "YAML", parse: parseYaml },
  toml: { name: "TOML", parse: parseToml },
};

/** Formats by file extension. */
export const FORMATS_BY_EXTENSION: Readonly<Record<string, Format>> = {
  ".json": FORMATS.json,
  ".jsonc": FORMATS.jsonc,
  ".yaml": FORMATS.yaml,
  ".yml": FORMATS.yaml,
  ".toml": FORMATS.toml,
};
