import type { WorkQueueConfig } from "@workqueue/core";
import { A_FUNCTION, hasMethods, invalidArgument, requireRules } from "@workqueue/core/internal";
import { clearTimeout, setTimeout } from "node:timers";
import { ConfigFile } from "./config_file.ts";
import { INTERVAL, type WatchConfigFileOptions, WatchedFile } from "./watched_file.ts";

const ACTION = "watch config file";

/**
 * Reloads a config whenever its file changes, until it is disposed of. A change is in force within half a second: the
 * file is read five times a second, and what two looks in a row have found is given to `config.reload`.
 *
 * What counts is what is in the file, and not how it came there: it may be written in place or in steps, replaced by
 * another, deleted and made anew, or be behind a symbolic link that moves, as in a ConfigMap of Kubernetes. It may be
 * on a network. A broken file is told of, and leaves in force what was. What is in the file when the watching begins
 * counts as well: if it has changed since it was loaded, it is reloaded once.
 *
 * It keeps no process alive. A service that watches for as long as it runs needs nothing of what is returned; with
 * `using`, the watching ends with the block.
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
 * @param path The file: a path, or a `file:` URL. A relative path is one from the working directory as it is now.
 * @param config What {@linkcode loadConfigFile} made of it.
 * @param options Who is told.
 * @returns Ends the watching; nothing is called afterwards.
 * @throws {Error} If the extension is none of `.json`, `.jsonc`, `.yaml`, `.yml` and `.toml`.
 * @throws {TypeError} If the path, the config or an option is not what it should be.
 */
export function watchConfigFile(
  path: string | URL,
  config: Pick<WorkQueueConfig, "reload">,
  options: WatchConfigFileOptions = {},
): Disposable {
  const file = new ConfigFile(path);
  if (!hasMethods(config, "reload")) throw invalidArgument(ACTION, "config", "must be what loadConfig returns", config);
  requireRules(ACTION, options, { onReload: A_FUNCTION, onError: A_FUNCTION });
  return new Polling(new WatchedFile(file, config, options));
}

/**
 * Looks at a file again and again.
 *
 * It reads the file rather than have the system tell of changes: the system reports changes of a file, not of what a
 * path leads to, and does so differently in each runtime.
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
