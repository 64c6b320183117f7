import { loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import { ConfigFile } from "./config_file.ts";

/**
 * Loads a config file. The extension determines the format: `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
 *
 * @example Usage
 * ```ts
 * import { loadConfigFile } from "@workqueue/config-file";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfigFile("examples/workqueue.yaml");
 * assertEquals(config.queueNames, ["demo", "downloads"]);
 * ```
 *
 * @param path The path of the file, or a `file:` URL.
 * @param options The options of `loadConfig`.
 * @returns The config.
 * @throws {ConfigError} If the file is invalid. The error includes the file's name and lists every problem. Problems
 * have a line and a column.
 * @throws {Error} If the extension is not supported or the file can't be read.
 * @throws {TypeError} If `path` is neither a non-empty string nor a `file:` URL, or if an option is unknown or of the
 * wrong type.
 */
export function loadConfigFile(path: string | URL, options?: LoadConfigOptions): WorkQueueConfig {
  const file = new ConfigFile(path);
  return file.content.run("load", file.read(), (document) => loadConfig(document, options));
}
