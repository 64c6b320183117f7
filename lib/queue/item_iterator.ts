import { systemClock } from "../base/clock.ts";
import type { Lease, WorkQueue } from "../contracts/work_queue.ts";
import { MAX_BURST, nextTask, TURNS_PER_PAUSE, wallClock } from "../structures/burst.ts";

/**
 * Iterates over a queue's items. Each item is processing until the next one is requested or the loop ends.
 *
 * Not a generator: if an item is a promise, `yield` would await the promise and return its value instead.
 */
export class ItemIterator<T> implements AsyncIterator<T, void, void> {
  readonly #queue: WorkQueue<T>;
  /** Whether to pause for timers and I/O. `false` with a user-defined clock, because a pause depends on real time. */
  readonly #makesPauses: boolean;
  #lease: Lease<T> | undefined;
  #isOver = false;
  #pausedAt = wallClock();
  /** The previous call. Calls run one after another, as in a generator. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(queue: WorkQueue<T>) {
    this.#queue = queue;
    const { clock = systemClock } = queue;
    this.#makesPauses = clock === systemClock;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#takeTurn(async () => {
      this.#giveBack();
      if (this.#isOver) return this.#end();
      if (this.#makesPauses && Math.abs(wallClock() - this.#pausedAt) >= MAX_BURST) await this.#pause();
      const lease = await this.#queue.get();
      if (lease.shutdown) return this.#end();
      this.#lease = lease;
      return { done: false, value: lease.item };
    });
  }

  return(): Promise<IteratorResult<T, void>> {
    return this.#takeTurn(() => Promise.resolve(this.#end()));
  }

  #end(): IteratorReturnResult<void> {
    this.#isOver = true;
    this.#giveBack();
    return { done: true, value: undefined };
  }

  /**
   * Lets timers and I/O run for up to about a millisecond. Without pauses, a loop body that awaits only promises would
   * block timers and I/O.
   */
  async #pause(): Promise<void> {
    const now = wallClock();
    let turns = 0;
    do await new Promise<void>(nextTask); while (++turns < TURNS_PER_PAUSE && wallClock() === now);
    this.#pausedAt = wallClock();
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
