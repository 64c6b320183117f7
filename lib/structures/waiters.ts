interface Links {
  previous: Links;
  next: Links;
}

interface Waiter<T> extends Links {
  resolve(value: T): void;
  reject(reason: unknown): void;
  /** Removes the waiter from the ring. */
  leave(): void;
}

/**
 * Pending calls, served in the order in which they were made.
 *
 * Stored in a doubly linked ring. A waiter whose signal aborts is removed in constant time, regardless of the number of
 * waiters, and its memory is freed.
 */
export class Waiters<T> {
  readonly #end: Links;

  constructor() {
    const end = {} as Links;
    end.previous = end.next = end;
    this.#end = end;
  }

  get isEmpty(): boolean {
    return this.#end.next === this.#end;
  }

  /**
   * Adds a waiter. The promise resolves with the value passed to the waiter's `resolve`, or rejects with the signal's
   * reason if the signal aborts first. The signal must not have aborted yet.
   *
   * @param onAbort Called after an abort has ended the wait.
   */
  wait(signal?: AbortSignal, onAbort?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<T> = { previous: this.#end.previous, next: this.#end, resolve, reject, leave };
      if (signal !== undefined) leaveOnAbort(waiter, signal, onAbort);
      waiter.previous.next = waiter;
      waiter.next.previous = waiter;
    });
  }

  /**
   * Removes the first waiter and returns it. There must be at least one waiter. The caller must resolve or reject the
   * waiter, because the waiter's signal no longer has an effect.
   */
  shift(): Pick<Waiter<T>, "resolve" | "reject"> {
    const first = this.#end.next as Waiter<T>;
    first.leave();
    return first;
  }

  serveAll(value: T): void {
    while (!this.isEmpty) this.shift().resolve(value);
  }
}

function leave(this: Links): void {
  this.previous.next = this.next;
  this.next.previous = this.previous;
}

function leaveOnAbort<T>(waiter: Waiter<T>, signal: AbortSignal, onAbort?: () => void): void {
  const abort = () => {
    waiter.leave();
    waiter.reject(signal.reason);
    onAbort?.();
  };
  signal.addEventListener("abort", abort, { once: true });
  waiter.leave = () => {
    signal.removeEventListener("abort", abort);
    leave.call(waiter);
  };
}
