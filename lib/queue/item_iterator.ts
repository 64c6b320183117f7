import type { Lease, WorkQueue } from "../contracts/work_queue.ts";

/**
 * Iterates over a queue's items, holding each until the next is asked for or the loop is left.
 *
 * No generator, as `yield` would wait for an item that is a promise and hand out what it resolves to.
 */
export class ItemIterator<T> implements AsyncIterator<T, void, void> {
  readonly #queue: WorkQueue<T>;
  #lease: Lease<T> | undefined = undefined;
  #isOver = false;
  /** The call before: calls take turns, as those of a generator do. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(queue: WorkQueue<T>) {
    this.#queue = queue;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#takeTurn(async () => {
      this.#giveBack();
      if (this.#isOver) return { done: true, value: undefined };
      const lease = await this.#queue.get();
      if (lease.shutdown) {
        this.#isOver = true;
        return { done: true, value: undefined };
      }
      this.#lease = lease;
      return { done: false, value: lease.item };
    });
  }

  return(): Promise<IteratorResult<T, void>> {
    return this.#takeTurn(() => {
      this.#isOver = true;
      this.#giveBack();
      return Promise.resolve({ done: true, value: undefined });
    });
  }

  #takeTurn<R>(call: () => Promise<R>): Promise<R> {
    const turn = this.#last.then(call);
    this.#last = turn.catch(() => {});
    return turn;
  }

  #giveBack(): void {
    const lease = this.#lease;
    this.#lease = undefined;
    lease?.[Symbol.dispose]();
  }
}
