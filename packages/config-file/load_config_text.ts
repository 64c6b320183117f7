import { loadConfig, type LoadConfigOptions, type WorkQueueConfig } from "@workqueue/core";
import { invalidArgument } from "@workqueue/core/internal";
import { ConfigText } from "./config_text.ts";
import { type ConfigFormat, FORMATS } from "./formats.ts";

/**
 * Loads a config from text that is not in a file, for example from standard input.
 *
 * @example Usage
 * ```ts
 * import { loadConfigText } from "@workqueue/config-file";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfigText("queues: { images: { concurrency: 4 } }", "yaml");
 * assertEquals(config.workers("images"), { concurrency: 4 });
 * ```
 *
 * @param text The text.
 * @param format The format of the text: `"json"`, `"jsonc"`, `"yaml"` or `"toml"`.
 * @param options The options of `loadConfig`.
 * @returns The config.
 * @throws {ConfigError} If the text is invalid. The error lists every problem. Problems have a line and a column.
 * @throws {TypeError} If an argument is of the wrong type, if the format is unknown, or if an option is unknown.
 */
export function loadConfigText(text: string, format: ConfigFormat, options?: LoadConfigOptions): WorkQueueConfig {
  if (typeof text !== "string") throw invalidArgument("load config", "text", "must be a string", text);
  if (!Object.hasOwn(FORMATS, format)) {
    throw invalidArgument("load config", "format", `must be one of ${Object.keys(FORMATS).join(", ")}`, format);
  }
  return new ConfigText(undefined, FORMATS[format]).run("load", text, (document) => loadConfig(document, options));
}
