import type { ConfigChange, WorkQueueConfig } from "@workqueue/core";
import { callSafely, inspect } from "@workqueue/core/internal";
import type { ConfigFile } from "./config_file.ts";

/** The options of {@linkcode watchConfigFile}. */
export interface WatchConfigFileOptions {
  /**
   * Called after each reload with the changes. The list is empty if only the wording of the file changed, or if a
   * broken file says again what it said before. Errors that it throws go to `onError`.
   */
  onReload?: ((changes: ConfigChange[]) => void) | undefined;
  /**
   * Called once each time the file becomes invalid, or has been unreadable for a second. The current config stays in
   * force. Errors that it throws are dropped.
   *
   * @default {console.error}
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** Milliseconds between two looks at a file. */
export const INTERVAL = 200;

/**
 * Number of looks in a row that have to find a file missing or empty before it counts as such: a program that writes a
 * file may delete or empty it first. Of other files, two looks have to find the same text, as it may be written in
 * steps.
 */
const PATIENCE = 1000 / INTERVAL;

/** Result of a look at a file: its text, or why it cannot be read. */
type Finding = { readonly text: string } | { readonly error: Error };

/**
 * A config file and the config to reload when the file changes. Reads the file only when told to look.
 *
 * It compares texts, not times: two writes can have the same time.
 */
export class WatchedFile implements Disposable {
  readonly #file: ConfigFile;
  readonly #config: Pick<WorkQueueConfig, "reload">;
  readonly #options: WatchConfigFileOptions;
  /** Result of the latest look. */
  #latest: Finding | undefined;
  /** Number of looks in a row that had this result. */
  #looks = 0;
  /** Result that was reloaded or reported last. */
  #handled: Finding | undefined;
  #isDisposed = false;

  constructor(file: ConfigFile, config: Pick<WorkQueueConfig, "reload">, options: WatchConfigFileOptions) {
    this.#file = file;
    this.#config = config;
    this.#options = options;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Ends the watching. A look under way calls nothing afterwards. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
  }

  /** Reads the file, and reloads the config if enough looks in a row have found the same change. Never rejects. */
  async look(): Promise<void> {
    const found = await this.#file.readLater().then((text): Finding => ({ text }), (error): Finding => ({ error }));
    if (this.#isDisposed) return;
    this.#looks = isSame(found, this.#latest) ? this.#looks + 1 : 1;
    this.#latest = found;
    if (this.#looks >= patienceFor(found) && !isSame(found, this.#handled)) this.#handle(found);
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
    if (this.#isDisposed || isFirst && changes.length === 0) return; // the first look found the config that was loaded
    callSafely((changes) => this.#options.onReload?.(changes), (error) => this.#tell(error), changes);
  }

  #tell(error: unknown): void {
    if (this.#isDisposed) return;
    const { onError } = this.#options;
    if (onError === undefined) console.error(describe(error));
    else callSafely(onError, () => {}, error); // there is nobody else to tell
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

/** Words an error for a line. Anything can be thrown, also what throws when it is looked at. */
function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return inspect(error);
  }
}
