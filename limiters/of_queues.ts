/** Name of the queue for which a limiter is being called; `undefined` for all other calls. */
let queue: string | undefined;

/**
 * Returns a method that is called for a queue. Limiters of a document that several queues name count the failures of
 * each queue separately, and those of all other calls.
 */
export function calledFor<Args extends unknown[], R>(name: string, method: (...args: Args) => R): (...args: Args) => R {
  return (...args) => {
    const before = queue;
    queue = name;
    try {
      return method(...args);
    } finally {
      queue = before;
    }
  };
}

/** State for each queue that shares a limiter, and for all other calls. */
export class OfQueues<State extends object> {
  readonly #make: () => State;
  readonly #others: State;
  readonly #ofQueues = new Map<string, State>();

  constructor(make: () => State) {
    this.#make = make;
    this.#others = make();
  }

  /** State for the queue for which the limiter is being called. */
  get current(): State {
    if (queue === undefined) return this.#others;
    let state = this.#ofQueues.get(queue);
    if (state === undefined) this.#ofQueues.set(queue, state = this.#make());
    return state;
  }

  *[Symbol.iterator](): Generator<State, void> {
    yield this.#others;
    yield* this.#ofQueues.values();
  }
}
