interface Links {
  previous: Links;
  next: Links;
}

export interface Waiter<T> extends Links {
  resolve(value: T): void;
  reject(reason: unknown): void;
  /** Signal that ends the wait, and its listener; `undefined` if the waiter has none. */
  signal: AbortSignal | undefined;
  abort: (() => void) | undefined;
}

/**
 * Pending calls, served in the order in which they were made.
 *
 * Stored in a doubly linked ring. A waiter whose signal aborts is removed in constant time, regardless of the number of
 * waiters, and its memory is freed.
 */
export class Waiters<T> {
  /** Number of waiters. */
  length = 0;
  readonly #end: Links;
  readonly #onAbort: (() => void) | undefined;

  /** @param onAbort Called after an abort has ended a wait. */
  constructor(onAbort?: () => void) {
    const end = {} as Links;
    end.previous = end.next = end;
    this.#end = end;
    this.#onAbort = onAbort;
  }

  /**
   * Adds a waiter. The promise resolves with the value passed to the waiter's `resolve`, or rejects with the signal's
   * reason if the signal aborts first. The signal must not have aborted yet.
   */
  wait(signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = this.#end;
      const waiter: Waiter<T> = { previous: end.previous, next: end, resolve, reject, signal, abort: undefined };
      if (signal !== undefined) {
        waiter.abort = () => {
          this.remove(waiter);
          reject(signal.reason);
          this.#onAbort?.();
        };
        signal.addEventListener("abort", waiter.abort, { once: true });
      }
      waiter.previous.next = waiter;
      end.previous = waiter;
      this.length++;
    });
  }

  /**
   * Removes a waiter, by default the first, and returns it. There must be at least one waiter. The caller must resolve
   * or reject the waiter, because the waiter's signal no longer has an effect.
   */
  remove(waiter: Waiter<T> = this.#end.next as Waiter<T>): Waiter<T> {
    const { previous, next, signal, abort } = waiter;
    previous.next = next;
    next.previous = previous;
    this.length--;
    if (abort !== undefined) signal!.removeEventListener("abort", abort);
    return waiter;
  }

  serveAll(value: T): void {
    while (this.length > 0) this.remove().resolve(value);
  }
}

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
