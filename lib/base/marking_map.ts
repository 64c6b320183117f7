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

/** Value of a removed key. */
export const MARK: unique symbol = /* @__PURE__ */ Symbol();

/**
 * Map for keys that are added and removed often, and of which there may be many.
 *
 * Runtimes keep a deleted `Map` entry in its hash chain until the map is rehashed. If the same key is repeatedly
 * deleted and set in a large map, each operation takes time proportional to the map's size. This map marks removed keys
 * instead, and reuses their entries. When there are too many marks, a sweep removes marked keys.
 */
export class MarkingMap<K, V> {
  /**
   * All entries, including those of marked keys.
   *
   * @internal
   */
  protected table: LargeMap<K, V | typeof MARK> = new Map();
  #marks = 0;
  /** Number of keys marked since a key was last set. */
  #marksInARow = 0;

  /** Number of keys with a value. */
  get size(): number {
    return this.table.size - this.#marks;
  }

  /** Returns a key's value; `undefined` if there is none. */
  get(key: K): V | undefined {
    const value = this.table.get(key);
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
    if (this.table.size === MAX_KEYS) this.table = divided(this.table);
    if (this.#marks > 0 && this.table.get(key) === MARK) {
      this.table.set(key, value);
      this.#marks--;
      return true;
    }
    try {
      this.table.set(key, value);
    } catch (cause) {
      this.#setAfterSweep(key, value, cause);
    }
    return false;
  }

  /** Removes a key. Does nothing if the key has no value. */
  delete(key: K): void {
    if (this.table.size > 0 && this.table.has(key) && this.table.get(key) !== MARK) this.remove(key);
  }

  /** Removes a key, which must have a value. A key that `hasExpired`, and will hardly be set again, may be marked. */
  remove(key: K, hasExpired?: boolean): void {
    if (hasExpired || this.table.size <= SMALL || this.#marksInARow === MAX_MARKS_IN_A_ROW) {
      if (this.#marks > 0 && this.table.get(key) === MARK) this.#marks--;
      this.table.delete(key);
    } else {
      this.table.set(key, MARK);
      this.#marks++;
      this.#marksInARow++;
    }
    if (this.#marks > 0 && this.#marks > MAX_MARKS * this.size) this.#sweep();
  }

  #setAfterSweep(key: K, value: V, cause: unknown): void {
    if (this.#marks === 0) throw noRoom(this.size, cause);
    while (this.#marks > 0) this.#sweep();
    this.set(key, value);
  }

  /** Removes the marked keys. If there are many keys, removes the marked keys of one part. */
  #sweep(): void {
    const { size } = this.table;
    this.table = swept(this.table, isUnmarked);
    this.#marks -= size - this.table.size;
  }
}

function isUnmarked(value: unknown): boolean {
  return value !== MARK;
}
