import type { ConfigChange, WorkQueueConfig } from "@workqueue/core";
import { A_FUNCTION, hasMethods, inspect, invalidArgument, requireRules } from "@workqueue/core/arguments";
import { clearTimeout, setTimeout } from "node:timers";
import { ConfigFile } from "./config_file.ts";

/** The options of {@linkcode watchConfigFile}. */
export interface WatchConfigFileOptions {
  /**
   * Is called after each reload with what the file says otherwise than before: nothing if it only puts it in other words,
   * or says again what it said before it was broken. What it throws goes to `onError`.
   */
  onReload?: ((changes: ConfigChange[]) => void) | undefined;
  /**
   * Is told of a file that is broken, or that cannot be read for a second, once each time it becomes so. The config that
   * was in force stays in force. What it throws is dropped.
   *
   * @default {console.error}
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** How much time there is between two looks at the file, in milliseconds. */
const INTERVAL = 200;

/**
 * How many looks have to find a file that is gone or empty, before that is what it is to be: those that write it may
 * delete or empty it first. Of other files two looks have to find the same, as they may be written in steps.
 */
const PATIENCE = 1000 / INTERVAL;

const ACTION = "watch config file";

/**
 * Reloads a config whenever its file changes, until it is disposed of. A change is in force within half a second: the file
 * is read five times a second, and what two looks in a row have found is given to `config.reload`.
 *
 * What counts is what is in the file, and not how it came there: it may be written in place or in steps, replaced by
 * another, deleted and made anew, or be behind a symbolic link that moves, as in a ConfigMap of Kubernetes. It may be on a
 * network. A broken file is told of, and leaves in force what was. What is in the file when the watching begins counts as
 * well: if it has changed since it was loaded, it is reloaded once.
 *
 * It keeps no process alive. A service that watches for as long as it runs needs nothing of what is returned; with `using`,
 * the watching ends with the block.
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
  return new Watch(file, config, options);
}

/** What a look at a file found: its text, or why it cannot be read. */
type Finding = { readonly text: string } | { readonly error: Error };

/**
 * Looks at a file again and again.
 *
 * It reads the file rather than have the system tell of changes: what the system tells of is a file, and not what a path
 * leads to, and differs from one runtime to the next. It compares texts and not times, as those of two writes can be equal.
 */
class Watch implements Disposable {
  readonly #file: ConfigFile;
  readonly #config: Pick<WorkQueueConfig, "reload">;
  readonly #options: WatchConfigFileOptions;
  /** What the latest look found. */
  #latest: Finding | undefined;
  /** How many looks in a row have found that. */
  #looks = 0;
  /** What was reloaded or told of last. */
  #handled: Finding | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;

  constructor(file: ConfigFile, config: Pick<WorkQueueConfig, "reload">, options: WatchConfigFileOptions) {
    this.#file = file;
    this.#config = config;
    this.#options = options;
    this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#look(), INTERVAL);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const found = await this.#file.readLater().then((text): Finding => ({ text }), (error): Finding => ({ error }));
    if (this.#isDisposed) return;
    this.#looks = isSame(found, this.#latest) ? this.#looks + 1 : 1;
    this.#latest = found;
    if (this.#looks >= patienceFor(found) && !isSame(found, this.#handled)) this.#handle(found);
    if (!this.#isDisposed) this.#lookLater();
  }

  #handle(found: Finding): void {
    const isFirst = this.#handled === undefined;
    this.#handled = found;
    let changes: ConfigChange[];
    try {
      if ("error" in found) throw found.error;
      changes = this.#file.content.run("reload", found.text, (document) => this.#config.reload(document));
    } catch (error) {
      return this.#tell(error);
    }
    if (this.#isDisposed || isFirst && changes.length === 0) return; // of the first, nothing: it is what was loaded
    callSafely(() => this.#options.onReload?.(changes), (error) => this.#tell(error));
  }

  #tell(error: unknown): void {
    if (this.#isDisposed) return;
    const { onError } = this.#options;
    if (onError === undefined) console.error(describe(error));
    else callSafely(() => onError(error), () => {}); // there is nobody else to tell
  }
}

function isSame(found: Finding, other: Finding | undefined): boolean {
  if (other === undefined) return false;
  if ("error" in found) return "error" in other && found.error.message === other.error.message;
  return "text" in other && found.text === other.text;
}

function patienceFor(found: Finding): number {
  return "error" in found || found.text === "" ? PATIENCE : 2;
}

/** Calls a user's function, which may throw, or be asynchronous and reject. */
function callSafely(action: () => unknown, onError: (error: unknown) => void): void {
  try {
    Promise.resolve(action()).catch(onError);
  } catch (error) {
    onError(error);
  }
}

/** Words an error for a line. Anything can be thrown, also what throws when it is looked at. */
function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return inspect(error);
  }
}
