/**
 * A ready key, as a {@linkcode QueueDiscipline} sees it. A key has the same entry object from the time it is pushed
 * until it is popped.
 */
export interface ReadyEntry<T> {
  /** Key by which the queue de-duplicates the item. It never changes. */
  readonly key: unknown;
  /** Item to hand out: the newest item with this key. */
  readonly item: T;
  /** Highest priority with which the item has been added since it was last handed out. Default: 0. */
  readonly priority: number;
  /**
   * Time at which the key became ready, by the queue's clock, in milliseconds. The time never decreases from one pushed
   * entry to the next, with one exception. Keys that became due together share one time and, if there are many, are
   * pushed in slices of about 10 ms. A key that is pushed between two slices has a later time than the keys of the next
   * slice.
   */
  readonly readyAt: number;
}

/**
 * Order of a work queue's ready items. Without a discipline, a queue is first in, first out.
 *
 * The queue de-duplicates first: it pushes an entry only while the discipline has no entry with the same key. `pop`
 * must return the same object that was pushed, and must return each object only once.
 *
 * Pass a discipline of your own through `adaptDiscipline` before you pass it to a queue.
 *
 * @example Last in, first out
 * ```ts
 * import { adaptDiscipline, createWorkQueue, type QueueDiscipline, type ReadyEntry } from "@workqueue/core";
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
 * const queue = createWorkQueue<string>({ discipline: adaptDiscipline(new Lifo<string>()) });
 * queue.add("first");
 * queue.add("second");
 * assertEquals(queue.tryGet()?.item, "second");
 * ```
 */
export interface QueueDiscipline<T> {
  /**
   * Adds the entry of a key that became ready. If `push` throws, `add` throws the same error and the item is not added.
   *
   * An item that comes back from a worker or from a delay is not lost if `push` throws: the queue hands out the item
   * before the discipline's entries, without calling `touch`, `pop` or `done` for it. If the item came back from a
   * worker, the queue's `done` throws the error. If the item came back from a delay, the error is written to
   * `console.error`.
   */
  push(entry: ReadyEntry<T>): void;
  /** Removes the next entry and returns it. Called only while {@linkcode QueueDiscipline.length} is positive. */
  pop(): ReadyEntry<T> | undefined;
  /**
   * Called when a ready item is added again. The entry already has the newest item, and perhaps a higher priority. If
   * `touch` throws, the entry's earlier item and priority are restored. However, if the newest item was added because
   * its delay had passed, the newest item is still handed out.
   */
  touch(entry: ReadyEntry<T>): void;
  /**
   * Number of entries that can be handed out now. May increase as time passes: see
   * {@linkcode QueueDiscipline.nextChangeAt}.
   */
  readonly length: number;
  /**
   * Number of entries that are blocked, until `done` is called for another entry or until a time. Omit this property if
   * entries are never blocked.
   */
  readonly blocked?: number;
  /**
   * Next time at which {@linkcode QueueDiscipline.length} increases although neither `push` nor `done` is called, in
   * milliseconds by the queue's clock; `Infinity` if there is none. If a call to `get` or a pool waits for an item, the
   * queue sets a timer for this time, and then reads `length` again. So the discipline must use the same clock as the
   * queue. The queue reads this property after each call that may change it. Omit this property if entries are never
   * blocked until a time.
   */
  readonly nextChangeAt?: number;
  /**
   * Removes an entry that `pop` has not returned, because its item was cancelled. Without this method, the queue skips
   * the entry when `pop` returns it. Then, the discipline counts the entry until that time.
   */
  remove?(entry: ReadyEntry<T>): void;
  /**
   * Called once for each popped entry, when the work on the entry's item has ended. If the key was added again in the
   * meantime, `done` is called before the key is pushed again. `done` may increase {@linkcode QueueDiscipline.length}.
   * The queue passes the time from the hand-out of the item until it was done, in milliseconds.
   */
  done?(entry: ReadyEntry<T>, work?: { readonly durationMs: number }): void;
  /**
   * Blocks the entries of a group until a time, in milliseconds by the queue's clock. The queue's `pauseGroup` calls
   * this method. Omit this method if the discipline has no groups.
   */
  pauseGroup?(group: unknown, until: number): void;
  /** Ends the pause of a group. The queue's `resumeGroup` calls this method. */
  resumeGroup?(group: unknown): void;
  /**
   * Returns the group of an entry. Without this method, a `RetryAfterError` can't pause the group of an item: it delays
   * the item.
   */
  groupOf?(entry: Pick<ReadyEntry<T>, "key" | "item">): unknown;
  /**
   * Returns at most `limit` of the entries that will be popped next, in order as far as the order is known. The call
   * must not change the discipline. A snapshot of the queue lists the returned entries first and the other ready items
   * after them, in no particular order.
   */
  peek?(limit: number): ReadyEntry<T>[];
}

/**
 * A {@linkcode QueueDiscipline} that accepts the items of a queue, for example a discipline for items of any type. The
 * item type in the results of `pop` and `peek` doesn't matter, because a discipline returns only entries that were
 * pushed.
 */
export type QueueDisciplineFor<T> = Omit<QueueDiscipline<T>, "pop" | "peek"> & {
  pop(): Omit<ReadyEntry<T>, "item"> | undefined;
  peek?(limit: number): Omit<ReadyEntry<T>, "item">[];
};
