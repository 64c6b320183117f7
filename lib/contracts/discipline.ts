/**
 * The order of a work queue's ready items. Without one, a queue is first in, first out.
 *
 * The queue de-duplicates before it calls: an item is pushed only while no item with its key is in the
 * discipline. `pop` must return an item that was pushed and not popped since.
 *
 * @example Last in, first out
 * ```ts
 * import { createWorkQueue, type QueueDiscipline } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * class Lifo<T> implements QueueDiscipline<T> {
 *   #items: T[] = [];
 *   push(item: T) {
 *     this.#items.push(item);
 *   }
 *   pop() {
 *     return this.#items.pop();
 *   }
 *   touch() {}
 *   get length() {
 *     return this.#items.length;
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
  /** Takes in an item that became ready. */
  push(item: T): void;
  /** Gives out the item that is next. Called only while {@linkcode QueueDiscipline.length} is positive. */
  pop(): T | undefined;
  /** Is told that a ready item was added again, for example to raise its priority. */
  touch(item: T): void;
  /** The number of items pushed and not yet popped. */
  readonly length: number;
}
