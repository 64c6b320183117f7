import type { WorkQueueConfig } from "@workqueue/core";
import { A_FUNCTION, hasMethods, invalidArgument, requireRules } from "@workqueue/core/internal";
import { clearTimeout, setTimeout } from "node:timers";
import { ConfigFile } from "./config_file.ts";
import { INTERVAL, type WatchConfigFileOptions, WatchedFile } from "./watched_file.ts";

const ACTION = "watch config file";

/**
 * Reloads a config whenever its file changes, until the watch is disposed. The file is read five times per second. When
 * two consecutive reads return the same new text, the text is passed to `config.reload`. A change takes effect within
 * half a second.
 *
 * Only the file's content matters. The file may be written in place or in steps, replaced by another file, or deleted
 * and created again. The path may contain a symbolic link whose target changes, as in a Kubernetes ConfigMap. The file
 * may be on a network drive. If the file is broken, `onError` is called and the current config stays in effect. If the
 * file changed after it was loaded and before the watch began, the config is reloaded once.
 *
 * The watch doesn't keep the process alive. A long-running service never needs to dispose the watch. With `using`, the
 * watch is disposed at the end of the block.
 *
 * @example Usage
 * ```ts
 * import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
 *
 * const config = loadConfigFile("examples/workqueue.yaml");
 * using _watch = watchConfigFile("examples/workqueue.yaml", config, {
 *   onReload(changes) {
 *     for (const { path, old, new: now } of changes) console.log(`${path}: ${old} → ${now}`);
 *   },
 * });
 * ```
 *
 * @param path The path of the file, or a `file:` URL. A relative path is resolved when the watch begins.
 * @param config The config that {@linkcode loadConfigFile} returned.
 * @param options The callbacks.
 * @returns The watch. After the watch is disposed, no callback is called.
 * @throws {Error} If the extension is not `.json`, `.jsonc`, `.yaml`, `.yml` or `.toml`.
 * @throws {TypeError} If the path, the config or an option is invalid.
 */
export function watchConfigFile(
  path: string | URL,
  config: Pick<WorkQueueConfig, "reload">,
  options: WatchConfigFileOptions = {},
): Disposable {
  const file = new ConfigFile(path);
  if (!hasMethods(config, "reload")) {
    throw invalidArgument(ACTION, "config", "must be a config returned by loadConfig", config);
  }
  requireRules(ACTION, options, { onReload: A_FUNCTION, onError: A_FUNCTION });
  return new Polling(new WatchedFile(file, config, options));
}

/**
 * Polls a file.
 *
 * File system notifications are not used. They report changes to a file, but don't report that its path now refers to a
 * different file. They also differ between runtimes.
 */
class Polling implements Disposable {
  readonly #file: WatchedFile;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(file: WatchedFile) {
    this.#file = file;
    this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#look(), INTERVAL);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    await this.#file.look();
    if (!this.#file.isDisposed) this.#lookLater();
  }
}
