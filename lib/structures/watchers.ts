import { Waiters } from "./waiters.ts";

/** Calls back until the function that it returns is called. */
export type Watch = (callback: () => void) => () => void;

/** Callbacks for those who want to know when something has changed. */
export class Watchers {
  readonly #callbacks = new Set<() => void>();

  /** Returns what takes the callback out again. */
  add(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  tell(): void {
    if (this.#callbacks.size === 0) return; // quicker than to begin the loop, and most queues have none
    for (const callback of this.#callbacks) callback();
  }
}

/** What `whenIdle` waits for, where a positive number is the count that `whenBelow` waits for. */
export const IDLE = 0;

/**
 * Calls of `whenIdle` and `whenBelow` that wait. Those that wait for the same go on together, after one look for all.
 */
export class Waits {
  readonly #isOver: (count: number) => boolean;
  readonly #watch: Watch;
  readonly #byCount = new Map<number, Waiters<void>>();
  #stop: (() => void) | undefined;

  /** Whether a wait is over is looked at when it begins, and whenever `watch` calls back. */
  constructor(isOver: (count: number) => boolean, watch: Watch) {
    this.#isOver = isOver;
    this.#watch = watch;
  }

  wait(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isOver(count)) return Promise.resolve();
    let waiters = this.#byCount.get(count);
    if (waiters === undefined) this.#byCount.set(count, waiters = new Waiters());
    this.#stop ??= this.#watch(() => this.#look());
    return waiters.wait(signal);
  }

  #look(): void {
    for (const [count, waiters] of this.#byCount) {
      if (!waiters.isEmpty && !this.#isOver(count)) continue;
      this.#byCount.delete(count);
      waiters.serveAll();
    }
    if (this.#byCount.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
