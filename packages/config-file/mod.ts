/**
 * Config files for `@workqueue/core`: loaded from JSON, JSONC, YAML and TOML, and put in force again when they change.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core

export { loadConfigFile } from "./load_config_file.ts";
export { loadConfigText } from "./load_config_text.ts";
export type { ConfigFormat } from "./formats.ts";
export { readConfigFile } from "./read_config_file.ts";
export { watchConfigFile } from "./watch_config_file.ts";
export type { WatchConfigFileOptions } from "./watched_file.ts";
// Those that the types of this package are made of, and what these are made of.
export type * from "@workqueue/core";
