/**
 * Interval between two syncs to disk, in milliseconds. A power failure can lose the data written during one interval.
 */
const SYNC_INTERVAL = 1000;

/** Syncs a file to disk at intervals while the file is being written. At most one sync is pending at a time. */
export class DiskSync {
  readonly #sync: (callback: (error: Error | null) => void) => void;
  readonly #onError: (error: Error) => void;
  #timer: ReturnType<typeof setInterval> | undefined = undefined;
  #isSynced = true;
  #pending: Promise<void> | undefined = undefined;

  /**
   * Creates the object without syncing anything.
   *
   * @param sync Syncs the file, and calls `callback` when finished.
   * @param onError Called with the error of each sync that fails.
   */
  constructor(sync: (callback: (error: Error | null) => void) => void, onError: (error: Error) => void) {
    this.#sync = sync;
    this.#onError = onError;
  }

  /** Records that the file was written. The file is synced within the interval, unless an earlier sync takes longer. */
  request(): void {
    this.#isSynced = false;
    this.#timer ??= setInterval(() => this.#begin(), SYNC_INTERVAL);
  }

  /** Syncs the file a last time if needed. Resolves when no sync is pending, so that the file can be closed. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pending;
    this.#begin();
    await this.#pending;
  }

  #begin(): void {
    if (this.#isSynced || this.#pending !== undefined) return;
    this.#isSynced = true;
    this.#pending = new Promise((resolve) => {
      this.#sync((error) => {
        this.#pending = undefined;
        if (error) this.#onError(error); // on success, runtimes pass different falsy values
        resolve();
      });
    });
  }
}
