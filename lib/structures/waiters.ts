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
