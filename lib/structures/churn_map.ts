/** Up to this many keys, a map deletes keys instead of marking them: its hash chains are short. */
const SMALL = 32;

/** After this many removals in a row, further keys are deleted instead of marked: the map is being drained. */
const MAX_MARKS_IN_A_ROW = 64;

/** Largest number of marked keys for each unmarked key. */
const MAX_MARKS = 4;

const MARK = Symbol();

/**
 * Map for keys that are added and removed often.
 *
 * Runtimes keep a deleted entry of a `Map` in its hash chain until the map is rehashed. Deleting and setting the same
 * key again and again in a large map therefore takes time proportional to its size. This map marks removed keys
 * instead, and reuses their entries. When there are too many marks, a sweep copies the unmarked keys to a new map, in
 * the same order.
 */
export class ChurnMap<K, V> {
  #entries = new Map<K, V | typeof MARK>();
  #marks = 0;
  /** Keys marked since a key was last set. */
  #marksInARow = 0;

  /** Number of keys with a value. */
  get size(): number {
    return this.#entries.size - this.#marks;
  }

  /** Number of keys that {@linkcode ChurnMap.keys} returns, including marked ones. */
  get span(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    return value === MARK ? undefined : value;
  }

  /**
   * Sets a key's value. A key that is in the map, with a value or marked, keeps its position.
   *
   * @returns Whether the key was marked.
   * @throws {RangeError} If a `Map` of this runtime cannot hold another key. Nothing has changed then.
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
   * Iterates over all keys, including marked ones. Includes keys set during the iteration until a sweep; after that, it
   * continues over the keys from before the sweep.
   */
  keys(): Iterator<K> {
    return this.#entries.keys();
  }

  /** Iterates over the keys that have a value, with their values. */
  *entries(): Generator<[K, V], void> {
    for (const entry of this.#entries) if (entry[1] !== MARK) yield entry as [K, V];
  }

  clear(): void {
    this.#entries = new Map();
    this.#marks = 0;
  }

  #setAfterSweep(key: K, value: V, cause: unknown): void {
    if (this.#marks === 0) {
      throw new RangeError(`Cannot add key: a Map holds no more than ${this.size}`, { cause });
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
