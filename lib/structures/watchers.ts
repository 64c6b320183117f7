import { Waiters } from "./waiters.ts";

/** Subscribes a callback. Returns an unsubscribe function. */
export type Watch = (callback: () => void) => () => void;

/** Callbacks that are called after each change. */
export class Watchers {
  /** Number of callbacks. */
  size = 0;
  /** Callbacks, keyed by their unsubscribe functions, because the same callback may be added several times. */
  readonly #callbacks = new Map<() => void, () => void>();

  /** Adds a callback. A callback that is added twice is called twice. Returns an unsubscribe function. */
  add(callback: () => void): () => void {
    const stop = () => {
      this.#callbacks.delete(stop);
      this.size = this.#callbacks.size;
    };
    this.#callbacks.set(stop, callback);
    this.size++;
    return stop;
  }

  /** Calls all callbacks, except those that are added or removed meanwhile. */
  tell(): void {
    for (const stop of [...this.#callbacks.keys()]) this.#callbacks.get(stop)?.();
  }
}

/** Count that represents a call to `whenIdle`. A call to `whenBelow` has a positive count. */
export const IDLE = 0;

/** Pending calls to `whenIdle` and `whenBelow`. Calls with the same count share one check and resolve together. */
export class Waits {
  readonly #isOver: (count: number) => boolean;
  readonly #watch: Watch;
  readonly #byCount = new Map<number, Waiters<void>>();
  #stop: (() => void) | undefined;

  /**
   * Creates an empty set of calls. `isOver` is called when a wait begins, and again each time `watch` calls its
   * callback.
   */
  constructor(isOver: (count: number) => boolean, watch: Watch) {
    this.#isOver = isOver;
    this.#watch = watch;
  }

  wait(count: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#isOver(count)) return Promise.resolve();
    let waiters = this.#byCount.get(count);
    if (waiters === undefined) this.#byCount.set(count, waiters = new Waiters(() => this.#look()));
    this.#stop ??= this.#watch(() => this.#look());
    return waiters.wait(signal);
  }

  #look(): void {
    for (const [count, waiters] of this.#byCount) {
      if (waiters.length > 0 && !this.#isOver(count)) continue;
      this.#byCount.delete(count);
      waiters.serveAll();
    }
    if (this.#byCount.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
