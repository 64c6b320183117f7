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
 * Pending calls, served in the order in which they came.
 *
 * A doubly linked ring: a waiter whose signal aborts is removed in constant time, however many others there are, and
 * leaves nothing behind.
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
   * Resolves with the value that the waiter is served, or rejects with the signal's reason when it aborts. The signal
   * must not have aborted yet.
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
   * Removes the first waiter. The caller must serve it, because its signal no longer has an effect. There must be one.
   */
  shift(): Pick<Waiter<T>, "resolve" | "reject"> {
    const first = this.#end.next as Waiter<T>;
    first.leave();
    return first;
  }

  serveAll(value: T): void {
    while (!this.isEmpty) this.shift().resolve(value);
  }

  failAll(reason: unknown): void {
    while (!this.isEmpty) this.shift().reject(reason);
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
