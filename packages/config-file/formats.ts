import { parseJson, parseJsonc } from "./json.ts";
import type { Parsed, Unparsed } from "./parsed.ts";
import { parseToml } from "./toml.ts";
import { parseYaml } from "./yaml.ts";

/** What a config can be written in. */
export type ConfigFormat = "json" | "jsonc" | "yaml" | "toml";

/** How texts of a format are understood. */
export interface Format {
  /** What people call it. */
  readonly name: string;
  /** Says what a text says, or what is wrong with it. */
  parse(text: string): Parsed | Unparsed;
}

/** The formats by name. */
export const FORMATS: Readonly<Record<ConfigFormat, Format>> = {
  json: { name: "JSON", parse: parseJson },
  jsonc: { name: "JSONC", parse: parseJsonc },
  yaml: { name: "YAML", parse: parseYaml },
  toml: { name: "TOML", parse: parseToml },
};

/** The formats by the extensions of files. */
export const FORMATS_BY_EXTENSION: Readonly<Record<string, Format>> = {
  ".json": FORMATS.json,
  ".jsonc": FORMATS.jsonc,
  ".yaml": FORMATS.yaml,
  ".yml": FORMATS.yaml,
  ".toml": FORMATS.toml,
};
