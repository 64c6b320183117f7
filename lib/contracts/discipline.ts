/**
 * A ready key, as a {@linkcode QueueDiscipline} sees it. The object stays the same from its push until it is popped.
 */
export interface ReadyEntry<T> {
  /** Key of the item, which the queue de-duplicates by. It never changes. */
  readonly key: unknown;
  /** Item to hand out: the newest with this key. */
  readonly item: T;
  /** Highest priority that the item was added with since it was last handed out. Default: 0. */
  readonly priority: number;
  /**
   * Time at which the key became ready, by the queue's clock, in milliseconds. It never decreases from one entry to the
   * next, with one exception. Keys that became due together share one time, and large numbers of them are pushed in
   * slices of about 10 ms. Keys that are pushed between two slices became ready later.
   */
  readonly readyAt: number;
}

/**
 * Order of a work queue's ready items. Without a discipline, a queue is first in, first out.
 *
 * The queue de-duplicates first: it pushes an entry only while the discipline has no entry with the same key. `pop`
 * must return the same object that was pushed, and only once.
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
   * Accepts the entry of a key that became ready. If it throws, `add` throws the same error and the item is not added.
   *
   * An item that was accepted before, and returns from a worker or from its delay, is not lost if this throws. The
   * queue hands it out before the discipline's entries, and calls neither `touch`, `pop` nor `done` for it. The queue's
   * `done` throws the error. At the end of a delay, the error is written to `console.error`.
   */
  push(entry: ReadyEntry<T>): void;
  /** Removes the next entry and returns it. Called only while {@linkcode QueueDiscipline.length} is positive. */
  pop(): ReadyEntry<T> | undefined;
  /**
   * Called when a ready item was added again. The entry already has the newest item, and perhaps a higher priority. If
   * this throws, the entry gets back its earlier item and priority. But if the newest item came from a delay that has
   * passed, that item is still the one handed out.
   */
  touch(entry: ReadyEntry<T>): void;
  /** Number of entries that can be handed out now. */
  readonly length: number;
  /**
   * Number of entries that are blocked until `done` is called for another entry. Omit it if entries are never blocked.
   */
  readonly blocked?: number;
  /**
   * Called when the work on a popped entry has ended: once for each pop, and before the key is pushed again if it was
   * added meanwhile. It may raise {@linkcode QueueDiscipline.length}.
   */
  done?(entry: ReadyEntry<T>): void;
  /**
   * Returns at most `limit` entries that will be popped next, in order as far as it is known. It must not change
   * anything. A snapshot of the queue lists the other ready items after them, in no particular order.
   */
  peek?(limit: number): ReadyEntry<T>[];
}

/**
 * A {@linkcode QueueDiscipline} that accepts the items of a queue, such as one for items of any type. The types that it
 * returns don't matter, because it returns only what was pushed.
 */
export type QueueDisciplineFor<T> = Omit<QueueDiscipline<T>, "pop" | "peek"> & {
  pop(): Omit<ReadyEntry<T>, "item"> | undefined;
  peek?(limit: number): Omit<ReadyEntry<T>, "item">[];
};
