import { ConfigFile } from "./config_file.ts";

/**
 * Reads and parses a config file, for whoever needs the document itself: `config.reload`, or what looks at it without
 * building anything. Its extension says what it is: `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
 *
 * @example Usage
 * ```ts
 * import { readConfigFile } from "@workqueue/config-file";
 * import { loadConfig } from "@workqueue/core";
 *
 * const config = loadConfig(readConfigFile("examples/workqueue.yaml"));
 * ```
 *
 * @param path The file: a path, or a `file:` URL.
 * @returns What `loadConfig` takes: the text of JSON, and the value of what is written in another format.
 * @throws {ConfigError} If the file is not valid in its format, with the place where the parser tells; or if the
 * document is no object but a text. What is wrong with JSON, `loadConfig` says.
 * @throws {Error} If the file cannot be read.
 * @throws {TypeError} If the path is neither.
 */
export function readConfigFile(path: string | URL): string | object {
  const file = new ConfigFile(path);
  return file.content.parse(file.read());
}
