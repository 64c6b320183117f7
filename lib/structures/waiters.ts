interface Links {
  previous: Links;
  next: Links;
}

interface Waiter<T> extends Links {
  resolve(value: T): void;
  reject(reason: unknown): void;
  /** Takes the waiter out. */
  leave(): void;
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
      const waiter: Waiter<T> = { previous: this.#end.previous, next: this.#end, resolve, reject, leave };
      if (signal !== undefined) leaveOnAbort(waiter, signal);
      waiter.previous.next = waiter;
      waiter.next.previous = waiter;
    });
  }

  /** Takes out the one who has waited longest, who has to be served then: no abort counts any more. There must be one. */
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

function leaveOnAbort<T>(waiter: Waiter<T>, signal: AbortSignal): void {
  const onAbort = () => {
    waiter.leave();
    waiter.reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  waiter.leave = () => {
    signal.removeEventListener("abort", onAbort);
    leave.call(waiter);
  };
}
