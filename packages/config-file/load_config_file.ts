import { loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import { ConfigFile } from "./config_file.ts";

/**
 * Loads a config file. Its extension says what it is: `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
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
 * @param path The file: a path, or a `file:` URL.
 * @param options The options of `loadConfig`.
 * @returns What the file describes.
 * @throws {ConfigError} If anything in the file is wrong; with all that is, the file named, and where the parser tells,
 * the line and column of each problem.
 * @throws {Error} If the file cannot be read.
 * @throws {TypeError} If the path is neither, or an option is unknown or of the wrong type.
 */
export function loadConfigFile(path: string | URL, options?: LoadConfigOptions): WorkQueueConfig {
  const file = new ConfigFile(path);
  return file.content.run("load", file.read(), (document) => loadConfig(document, options));
}
