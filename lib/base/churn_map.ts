import { divided, type LargeMap, MAX_KEYS, noRoom, swept } from "./parted_map.ts";

/**
 * A map with at most this many keys deletes removed keys instead of marking them. The hash chains of such a map are
 * short.
 */
const SMALL = 32;

/** After this many keys are marked in a row, further keys are deleted, because the map is probably being emptied. */
const MAX_MARKS_IN_A_ROW = 64;

/** Maximum ratio of marked keys to unmarked keys. */
const MAX_MARKS = 4;

const MARK = Symbol();

/**
 * Map for keys that are added and removed often, and of which there may be many.
 *
 * Runtimes keep a deleted `Map` entry in its hash chain until the map is rehashed. If the same key is repeatedly
 * deleted and set in a large map, each operation takes time proportional to the map's size. This map marks removed keys
 * instead, and reuses their entries. When there are too many marks, a sweep removes marked keys.
 */
export class ChurnMap<K, V> {
  #entries: LargeMap<K, V | typeof MARK> = new Map();
  #marks = 0;
  /** Number of keys marked since a key was last set. */
  #marksInARow = 0;

  /** Number of keys with a value. */
  get size(): number {
    return this.#entries.size - this.#marks;
  }

  /** Number of keys that {@linkcode ChurnMap.keys} returns, including marked ones. */
  get span(): number {
    return this.#entries.size;
  }

  /** Returns a key's value; `undefined` if there is none. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    return value === MARK ? undefined : value;
  }

  /**
   * Sets a key's value. A key that is already in the map, even a marked key, keeps its position.
   *
   * @returns Whether the key was marked.
   * @throws {RangeError} If the map has as many keys as the runtime's `Map` supports. In that case, nothing has
   * changed.
   */
  set(key: K, value: V): boolean {
    this.#marksInARow = 0;
    if (this.#entries.size === MAX_KEYS) this.#entries = divided(this.#entries);
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

  /** Removes a key. Does nothing if the key has no value. */
  delete(key: K): void {
    if (this.#entries.size > 0 && this.#entries.has(key) && this.#entries.get(key) !== MARK) this.remove(key);
  }

  /** Removes a key, which must have a value. A key that `hasExpired`, and will hardly be set again, may be marked. */
  remove(key: K, hasExpired?: boolean): void {
    if (hasExpired || this.#entries.size <= SMALL || this.#marksInARow === MAX_MARKS_IN_A_ROW) {
      if (this.#marks > 0 && this.#entries.get(key) === MARK) this.#marks--;
      this.#entries.delete(key);
    } else {
      this.#entries.set(key, MARK);
      this.#marks++;
      this.#marksInARow++;
    }
    if (this.#marks > 0 && this.#marks > MAX_MARKS * this.size) this.#sweep();
  }

  /**
   * Iterates over all keys, including marked keys. Keys that are set during the iteration are included, unless the map
   * is swept or divided first. After that, the iteration continues over the earlier keys.
   */
  keys(): Iterator<K> {
    return this.#entries.keys();
  }

  /** Iterates over the keys that have a value, with their values. */
  *entries(): Generator<[K, V], void> {
    for (const entry of this.#entries) if (entry[1] !== MARK) yield entry as [K, V];
  }

  #setAfterSweep(key: K, value: V, cause: unknown): void {
    if (this.#marks === 0) throw noRoom(this.size, cause);
    while (this.#marks > 0) this.#sweep();
    this.set(key, value);
  }

  /** Removes the marked keys. If there are many keys, removes the marked keys of one part. */
  #sweep(): void {
    const { size } = this.#entries;
    this.#entries = swept(this.#entries, isUnmarked);
    this.#marks -= size - this.#entries.size;
  }
}

function isUnmarked(value: unknown): boolean {
  return value !== MARK;
}
