interface Links {
  previous: Links;
  next: Links;
}

interface Waiter<T> extends Links {
  settle(value: T): void;
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
        settle(value) {
          signal?.removeEventListener("abort", onAbort);
          resolve(value);
        },
      };
      function onAbort() {
        unlink(waiter);
        reject(signal!.reason);
      }
      signal?.addEventListener("abort", onAbort, { once: true });
      waiter.previous.next = waiter;
      waiter.next.previous = waiter;
    });
  }

  /** Serves the one who has waited longest. There must be one. */
  serve(value: T): void {
    const first = this.#end.next as Waiter<T>;
    unlink(first);
    first.settle(value);
  }

  serveAll(value: T): void {
    while (!this.isEmpty) this.serve(value);
  }
}

function unlink(waiter: Links): void {
  waiter.previous.next = waiter.next;
  waiter.next.previous = waiter.previous;
}
