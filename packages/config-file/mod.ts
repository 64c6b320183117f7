/**
 * Config files for `@workqueue/core` in JSON, JSONC, YAML and TOML, reloaded when they change.
 *
 * @module
 */

import "./core_version.ts"; // imported first, to report a wrong core version before it causes another error

export { loadConfigFile } from "./load_config_file.ts";
export { loadConfigText } from "./load_config_text.ts";
export { loadDocumentFile } from "./load_document_file.ts";
export type { ConfigFormat } from "./formats.ts";
export { readConfigFile } from "./read_config_file.ts";
export { watchConfigFile } from "./watch_config_file.ts";
export type { WatchConfigFileOptions } from "./watched_file.ts";
// Exported because the types of this package refer to types of the core, directly or indirectly.
export type * from "@workqueue/core";
