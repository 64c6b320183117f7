/** What somebody waits for, and what ends the wait early. */
export interface Wait {
  isOver(): boolean;
  readonly signal: AbortSignal | undefined;
}

/** Calls back until the function that it returns is called. */
export type Watch = (callback: () => void) => () => void;

/** Callbacks for those who want to know when something has changed. */
export class Watchers {
  readonly #callbacks = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#callbacks.size === 0;
  }

  /** Returns what takes the callback out again. */
  add(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  tell(): void {
    for (const callback of this.#callbacks) callback();
  }
}

/** Resolves as soon as the wait is over, which is looked at now and whenever `watch` calls back. */
export function until({ isOver, signal }: Wait, watch: Watch): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  if (isOver()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = () => {
      stop();
      signal?.removeEventListener("abort", abort);
    };
    const abort = () => {
      end();
      reject(signal!.reason);
    };
    const stop = watch(() => {
      if (!isOver()) return;
      end();
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}
