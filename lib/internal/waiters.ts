interface Links {
  previous: Links;
  next: Links;
}

interface Waiter<T> extends Links {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/**
 * Those who wait for a value, served in the order they came.
 *
 * A doubly linked ring, so that a waiter whose signal aborts leaves it in constant time and leaves
 * nothing behind, however many others wait.
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

  /** Resolves with the value this waiter is served, or rejects with the signal's reason once it aborts. */
  wait(signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<T> = {
        previous: this.#end.previous,
        next: this.#end,
        resolve,
        reject,
      };
      if (signal !== undefined) rejectOnAbort(waiter, signal);
      waiter.previous.next = waiter;
      waiter.next.previous = waiter;
    });
  }

  /** Serves the one who has waited longest. There must be one. */
  serve(value: T): void {
    this.#shift().resolve(value);
  }

  /** Rejects the one who has waited longest. There must be one. */
  fail(reason: unknown): void {
    this.#shift().reject(reason);
  }

  serveAll(value: T): void {
    while (!this.isEmpty) this.serve(value);
  }

  failAll(reason: unknown): void {
    while (!this.isEmpty) this.fail(reason);
  }

  #shift(): Waiter<T> {
    const first = this.#end.next as Waiter<T>;
    unlink(first);
    return first;
  }
}

function rejectOnAbort<T>(waiter: Waiter<T>, signal: AbortSignal): void {
  const { resolve, reject } = waiter;
  const onAbort = () => {
    unlink(waiter);
    reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  waiter.resolve = (value) => {
    signal.removeEventListener("abort", onAbort);
    resolve(value);
  };
  waiter.reject = (reason) => {
    signal.removeEventListener("abort", onAbort);
    reject(reason);
  };
}

function unlink(waiter: Links): void {
  waiter.previous.next = waiter.next;
  waiter.next.previous = waiter.previous;
}
