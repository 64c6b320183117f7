import { ConfigFile } from "./config_file.ts";

/**
 * Reads and parses a config file without loading the config. Use this function for `config.reload`, or to inspect the
 * document. The extension determines the format: `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
 *
 * @example Usage
 * ```ts
 * import { readConfigFile } from "@workqueue/config-file";
 * import { loadConfig } from "@workqueue/core";
 *
 * const config = loadConfig(readConfigFile("examples/workqueue.yaml"));
 * ```
 *
 * @param path The path of the file, or a `file:` URL.
 * @returns The parsed document, for `loadConfig`.
 * @throws {ConfigError} If the file is not valid in its format, if it is empty, or if it contains only a string, a
 * number, `true`, `false` or `null`. The error includes the location of each problem.
 * @throws {Error} If the extension is not supported or the file can't be read.
 * @throws {TypeError} If `path` is neither a non-empty string nor a `file:` URL.
 */
export function readConfigFile(path: string | URL): object {
  const file = new ConfigFile(path);
  return file.content.parse(file.read());
}
