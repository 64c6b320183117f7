/** A map of so few keys deletes them: there the chains are short. */
const SMALL = 32;

/**
 * After so many keys in a row were removed, the next ones are deleted: those do not come and go, the map is drained.
 */
const MAX_MARKS_IN_A_ROW = 64;

/** How many marked keys there may be for each that is not. */
const MAX_MARKS = 4;

const MARK = Symbol("deleted");

/**
 * A map for keys that come and go.
 *
 * Runtimes keep a deleted entry of a `Map` in its hash chain until they rehash. So a key that is deleted and set again
 * and again, beside many others, costs by their number. Here a deleted key stays, marked, and is set again in place;
 * once there are many marks, a sweep makes a new map without them, in the same order.
 */
export class ChurnMap<K, V> {
  #entries = new Map<K, V | typeof MARK>();
  #marks = 0;
  /** How many keys were marked since the last one was set. */
  #marksInARow = 0;

  /** The number of keys that have a value. */
  get size(): number {
    return this.#entries.size - this.#marks;
  }

  /** The number of keys that {@linkcode ChurnMap.keys} gives, the marked ones among them. */
  get span(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    return value === MARK ? undefined : value;
  }

  /**
   * Sets a key's value. A key that was there, with a value or marked, keeps its place in the map.
   *
   * @returns Whether the key was marked.
   * @throws {RangeError} If the runtime's maps cannot hold one more. Nothing has changed.
   */
  set(key: K, value: V): boolean {
    this.#marksInARow = 0;
    if (this.#marks > 0 && this.#entries.get(key) === MARK) {
      this.#entries.set(key, value);
      this.#marks--;
      return true;
    }
    try {
      this.#entries.set(key, value);
    } catch (cause) {
      this.#setAfterSweep(key, value, cause);
    }
    return false;
  }

  /** Removes a key, if it has a value. */
  delete(key: K): void {
    if (this.#entries.size > 0 && this.#entries.has(key) && this.#entries.get(key) !== MARK) this.remove(key);
  }

  /** Removes a key that has a value. */
  remove(key: K): void {
    if (this.#entries.size <= SMALL || this.#marksInARow === MAX_MARKS_IN_A_ROW) {
      this.#entries.delete(key);
    } else {
      this.#entries.set(key, MARK);
      this.#marks++;
      this.#marksInARow++;
    }
    if (this.#marks > 0 && this.#marks > MAX_MARKS * this.size) this.#sweep();
  }

  /**
   * Iterates over all keys, the marked ones among them. It goes on with those that are set later, until a sweep: then
   * it goes on over the keys that there were.
   */
  keys(): Iterator<K> {
    return this.#entries.keys();
  }

  /** Iterates over the keys that have a value, and over their values. */
  *entries(): Generator<[K, V], void> {
    for (const entry of this.#entries) if (entry[1] !== MARK) yield entry as [K, V];
  }

  clear(): void {
    this.#entries = new Map();
    this.#marks = 0;
  }

  #setAfterSweep(key: K, value: V, cause: unknown): void {
    if (this.#marks === 0) {
      throw new RangeError(`Cannot add key as a Map holds no more than ${this.size}`, { cause });
    }
    this.#sweep();
    this.#entries.set(key, value);
  }

  #sweep(): void {
    const entries = new Map<K, V | typeof MARK>();
    for (const [key, value] of this.#entries) if (value !== MARK) entries.set(key, value);
    this.#entries = entries;
    this.#marks = 0;
  }
}
