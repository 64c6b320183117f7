/** So few marks are not worth a sweep. */
const MIN_MARKS = 16;

/**
 * A map for keys that come and go.
 *
 * Runtimes keep a deleted entry of a `Map` in its hash chain until they rehash, so a key that is deleted and set again
 * and again, beside many others, costs by their number. Here a deleted key stays, marked, and is set again in place;
 * once more keys are marked than not, a sweep makes a new map without them.
 */
export class ChurnMap<K, V extends NonNullable<unknown>> {
  #entries = new Map<K, V | undefined>();
  #marks = 0;

  /** The number of keys that have a value. */
  get size(): number {
    return this.#entries.size - this.#marks;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    if (this.#marks === 0) {
      this.#entries.set(key, value);
      return;
    }
    const { size } = this.#entries;
    const isNew = this.#entries.get(key) === undefined;
    this.#entries.set(key, value);
    if (isNew && this.#entries.size === size) this.#marks--; // the key was there, marked
  }

  /** Removes a key and returns what its value was. */
  delete(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.set(key, undefined);
    this.#marks++;
    if (this.#marks > MIN_MARKS && this.#marks * 2 > this.#entries.size) this.#sweep();
    return value;
  }

  clear(): void {
    this.#entries = new Map();
    this.#marks = 0;
  }

  #sweep(): void {
    const entries = new Map<K, V | undefined>();
    for (const [key, value] of this.#entries) if (value !== undefined) entries.set(key, value);
    this.#entries = entries;
    this.#marks = 0;
  }
}
