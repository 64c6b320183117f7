import type { ConfigChange, WorkQueueConfig } from "@workqueue/core";
import { callSafely, inspect } from "@workqueue/core/internal";
import type { ConfigFile } from "./config_file.ts";

/** Options of {@linkcode watchConfigFile}. */
export interface WatchConfigFileOptions {
  /**
   * Called after each reload with the changes. The list is empty if the file's text changed but its values did not, or
   * if a broken file was restored. Errors that the callback throws are reported to `onError`.
   */
  onReload?: ((changes: ConfigChange[]) => void) | undefined;
  /**
   * Called once for each invalid version of the file, and once when the file has been unreadable or empty for a second.
   * The current config stays in effect. Errors that the callback throws are ignored.
   *
   * @default {console.error}
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** Interval between two checks of a file, in milliseconds. */
export const INTERVAL = 200;

/**
 * Number of consecutive checks that must find a file unreadable or empty before an error is reported. A program that
 * writes a file might delete or empty the file first. If a file is readable and not empty, the config is reloaded after
 * two consecutive checks have found the same text, because the file might be written in steps.
 */
const MIN_LOOKS = 1000 / INTERVAL;

/** Result of a check: the text of the file, or the error if the file can't be read. */
type Finding = { readonly text: string } | { readonly error: Error };

/**
 * Config file, and the config to reload when the file changes. Reads the file only in `look`.
 *
 * Changes are detected by comparing the file's text, not its modification time, because two writes can have the same
 * time.
 */
export class WatchedFile implements Disposable {
  readonly #file: ConfigFile;
  readonly #config: Pick<WorkQueueConfig, "reload">;
  readonly #options: WatchConfigFileOptions;
  /** Result of the latest check. */
  #latest: Finding | undefined;
  /** Number of consecutive checks with the latest result. */
  #looks = 0;
  /** Latest result that led to a reload or was reported. */
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

  /** Stops watching. No callback is called afterwards, even if a check is in progress. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
  }

  /** Reads the file. Reloads the config if enough consecutive checks have found the same change. Never rejects. */
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
    if (this.#isDisposed || isFirst && changes.length === 0) return; // the file still matches the loaded config
    callSafely((changes) => this.#options.onReload?.(changes), (error) => this.#tell(error), changes);
  }

  #tell(error: unknown): void {
    if (this.#isDisposed) return;
    const { onError } = this.#options;
    if (onError === undefined) console.error(describe(error));
    else callSafely(onError, undefined, error); // errors that `onError` throws are ignored
  }
}

function isSame(found: Finding, other: Finding | undefined): boolean {
  if (other === undefined) return false;
  if ("error" in found) return "error" in other && found.error.message === other.error.message;
  return "text" in other && found.text === other.text;
}

function patienceFor(found: Finding): number {
  return "error" in found || found.text === "" ? MIN_LOOKS : 2;
}

/** Formats an error as text. Any value can be thrown, even an object that can't be converted to a string. */
function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return inspect(error);
  }
}
