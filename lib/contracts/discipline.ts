/** A key that is ready, as a {@linkcode QueueDiscipline} sees it: one object, from its push until it is popped. */
export interface ReadyEntry<T> {
  /** What the queue de-duplicates by. It never changes. */
  readonly key: unknown;
  /** The item that would be handed out: the newest with this key. */
  readonly item: T;
  /** How urgent the item is: the highest priority it was added with since it was last handed out. 0 unless told. */
  readonly priority: number;
  /**
   * When the key became ready, by the queue's clock, in milliseconds. It never decreases from entry to entry, with one
   * exception: keys that became due together have one time, and many of them are pushed in slices of some 10 ms. Other
   * keys that are pushed between the slices became ready later.
   */
  readonly readyAt: number;
}

/**
 * The order of a work queue's ready items. Without one, a queue is first in, first out.
 *
 * The queue de-duplicates before it calls: an entry is pushed only while no entry with its key is in the discipline.
 * `pop` must return an entry that was pushed and not popped since: the very object.
 *
 * @example Last in, first out
 * ```ts
 * import { createWorkQueue, type QueueDiscipline, type ReadyEntry } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * class Lifo<T> implements QueueDiscipline<T> {
 *   #entries: ReadyEntry<T>[] = [];
 *   push(entry: ReadyEntry<T>) {
 *     this.#entries.push(entry);
 *   }
 *   pop() {
 *     return this.#entries.pop();
 *   }
 *   touch() {}
 *   get length() {
 *     return this.#entries.length;
 *   }
 * }
 *
 * const queue = createWorkQueue<string>({ discipline: new Lifo() });
 * queue.add("first");
 * queue.add("second");
 * assertEquals(queue.tryGet()?.item, "second");
 * ```
 */
export interface QueueDiscipline<T> {
  /**
   * Takes in the entry of a key that became ready. If this throws, so does the `add`, and nothing is added. An item
   * that was accepted before, and comes back from a worker or from its delay, is not lost: the queue hands it out
   * before the entries that the discipline has, and calls neither `touch`, `pop` nor `done` for it. The error is thrown
   * by the `done` of the queue, or written to `console.error` at the end of a delay.
   */
  push(entry: ReadyEntry<T>): void;
  /** Gives out the entry that is next. Called only while {@linkcode QueueDiscipline.length} is positive. */
  pop(): ReadyEntry<T> | undefined;
  /**
   * Is told that a ready item was added again. The entry has the newest item by then, and perhaps a higher priority; if
   * this throws, it has what it had before. If the delay of the newer item has passed, that one is handed out all the
   * same.
   */
  touch(entry: ReadyEntry<T>): void;
  /** How many entries may be handed out now. */
  readonly length: number;
  /** How many entries were pushed and must wait until `done` is called for another one. Without it, there are none. */
  readonly blocked?: number;
  /**
   * Is told that the work on a popped entry has ended: once for each pop, and before the push of its key if that was
   * added again meanwhile. It may raise {@linkcode QueueDiscipline.length}.
   */
  done?(entry: ReadyEntry<T>): void;
  /**
   * The entries that will be popped next, in that order as far as it is known, and no more than `limit` of them;
   * nothing changes by that. A snapshot of the queue lists others that are ready behind them, in no particular order.
   */
  peek?(limit: number): ReadyEntry<T>[];
}

/**
 * A {@linkcode QueueDiscipline} that takes in the items of a queue, such as one for items of any type. The type of what
 * it gives out says nothing: that is what was pushed.
 */
export type QueueDisciplineFor<T> = Omit<QueueDiscipline<T>, "pop" | "peek"> & {
  pop(): Omit<ReadyEntry<T>, "item"> | undefined;
  peek?(limit: number): Omit<ReadyEntry<T>, "item">[];
};
