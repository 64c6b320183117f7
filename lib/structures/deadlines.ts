import { ChurnMap } from "../base/churn_map.ts";
import { NumberHeap } from "./number_heap.ts";

/**
 * Keys with deadlines, ordered by deadline. Keys with equal deadlines keep the order in which they were added.
 *
 * Consists of a heap of deadlines and a map from each key to its slot in the heap.
 */
export class Deadlines<K> {
  readonly #heap = new NumberHeap<K>();
  readonly #slots = new ChurnMap<K, number>();

  /** Number of keys. */
  get length(): number {
    return this.#heap.length;
  }

  /** Earliest deadline; `Infinity` if there is none. */
  get earliest(): number {
    return this.#heap.smallest;
  }

  /** Reports whether a key has a deadline. */
  has(key: K): boolean {
    return this.#slots.get(key) !== undefined;
  }

  /** Returns the deadline of a key; `undefined` if it has none. */
  get(key: K): number | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#heap.numberOf(slot);
  }

  /** Adds a key that has no deadline yet. If this method throws, the key is not added. */
  add(key: K, deadline: number): void {
    this.#add(key, deadline);
  }

  #add(key: K, deadline: number, order?: number): void {
    const slot = this.#heap.push(key, deadline, order);
    try {
      this.#slots.set(key, slot);
    } catch (error) {
      this.#heap.remove(slot);
      throw error;
    }
  }

  /** Sets a key's deadline if the new deadline is earlier. Does nothing if the key has no deadline. */
  bringForward(key: K, deadline: number): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#heap.decrease(slot, deadline);
  }

  /** Removes a key. Reports whether the key had a deadline. */
  remove(key: K): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#heap.remove(slot);
    this.#slots.remove(key);
    return true;
  }

  /** Removes the key with the earliest deadline and returns it. There must be at least one key. */
  shift(): K {
    const key = this.#heap.pop()!;
    this.#slots.remove(key);
    return key;
  }

  /** Returns the `limit` keys with the earliest deadlines, or all keys if there are fewer, in order. */
  first(limit: number): K[] {
    return this.#heap.first(limit);
  }

  /** Adds those of the given keys that have a deadline to `others`, in the same order. Doesn't look at other keys. */
  copyTo(others: Deadlines<K>, keys: Iterable<K>): void {
    for (const key of keys) {
      const slot = this.#slots.get(key);
      if (slot !== undefined) others.#add(key, this.#heap.numberOf(slot), this.#heap.orderOf(slot));
    }
  }

  /** Iterates over the keys, in no particular order. */
  *keys(): Generator<K, void> {
    for (const [key] of this.#slots.entries()) yield key;
  }
}
