/**
 * Loads the same config from JSON, YAML and TOML, and prints what it says.
 *
 *     deno run --allow-read --allow-env examples/load_config.ts
 *
 * Bun imports YAML and TOML without a library: `load_config_bun.ts`.
 */

import { readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import { printConfig } from "./print_config.ts";
import json from "./workqueue.json" with { type: "json" };

const read = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

printConfig("JSON", json);
printConfig("YAML", parseYaml(read("workqueue.yaml")));
printConfig("TOML", parseToml(read("workqueue.toml")));
