/** A map of so few keys deletes them: there the chains are short. */
const SMALL = 32;

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
  readonly #onSweep: (() => void) | undefined;

  /** `onSweep` is called after each sweep. Iterators that were made before go on over the old map. */
  constructor(onSweep?: () => void) {
    this.#onSweep = onSweep;
  }

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
   * Sets a key's value and tells whether the key has come to the end of the map. One that was there, with a value or
   * marked, keeps its place.
   *
   * @throws {RangeError} If the runtime's maps cannot hold one more. Nothing has changed then.
   */
  set(key: K, value: V): boolean {
    if (this.#marks > 0 && this.#entries.get(key) === MARK) {
      this.#entries.set(key, value);
      this.#marks--;
      return false;
    }
    const { size } = this.#entries;
    try {
      this.#entries.set(key, value);
    } catch (cause) {
      if (this.#marks === 0) {
        throw new RangeError(`Cannot add key as a Map of this runtime holds no more than ${size}`, { cause });
      }
      this.#sweep();
      this.#entries.set(key, value);
      return true;
    }
    return this.#entries.size > size;
  }

  /** Removes a key and returns what its value was. */
  delete(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === MARK || (value === undefined && !this.#entries.has(key))) return undefined;
    if (this.#entries.size <= SMALL) {
      this.#entries.delete(key);
    } else {
      this.#entries.set(key, MARK);
      this.#marks++;
      if (this.#marks > MAX_MARKS * this.size) this.#sweep();
    }
    return value;
  }

  /** Iterates over all keys, the marked ones among them. It goes on with those that are set later. */
  keys(): Iterator<K> {
    return this.#entries.keys();
  }

  clear(): void {
    this.#entries = new Map();
    this.#marks = 0;
  }

  #sweep(): void {
    const entries = new Map<K, V | typeof MARK>();
    for (const [key, value] of this.#entries) if (value !== MARK) entries.set(key, value);
    this.#entries = entries;
    this.#marks = 0;
    this.#onSweep?.();
  }
}
