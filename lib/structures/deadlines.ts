import { ChurnMap } from "./churn_map.ts";
import { NumberHeap } from "./number_heap.ts";

/**
 * Keys with a deadline each: the earliest first, equal ones in the order in which they were added.
 *
 * A heap by deadline, and a map from each key to its slot in the heap.
 */
export class Deadlines<K> {
  readonly #heap = new NumberHeap<K>();
  readonly #slots = new ChurnMap<K, number>();

  /** The number of keys. */
  get length(): number {
    return this.#heap.length;
  }

  /** The earliest deadline; infinity if there is none. */
  get earliest(): number {
    return this.#heap.smallest;
  }

  /** The deadline of a key; `undefined` if it has none. */
  get(key: K): number | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#heap.numberOf(slot);
  }

  /** Gives a deadline to a key that has none. If the map throws, the key has none. */
  add(key: K, deadline: number): void {
    const slot = this.#heap.push(key, deadline);
    try {
      this.#slots.set(key, slot);
    } catch (error) {
      this.#heap.remove(slot);
      throw error;
    }
  }

  /** Gives a key the earlier of its deadline and this one, if it has one. */
  bringForward(key: K, deadline: number): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#heap.decrease(slot, deadline);
  }

  /** Removes a key. Returns whether it had a deadline. */
  remove(key: K): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#heap.remove(slot);
    this.#slots.remove(key);
    return true;
  }

  /** Removes the key with the earliest deadline and returns it. There must be one. */
  shift(): K {
    const key = this.#heap.pop()!;
    this.#slots.remove(key);
    return key;
  }

  /** The keys with the earliest deadlines, the earliest first; `limit` at most. */
  first(limit: number): K[] {
    return this.#heap.first(limit);
  }

  /** Iterates over the keys, in no particular order. */
  *keys(): Generator<K, void> {
    for (const [key] of this.#slots.entries()) yield key;
  }
}
