/**
 * Number of keys from which a map is divided into parts. Runtimes rehash a growing `Map` in one go: in 5 ms on the way
 * to this many keys, in 16 to 42 ms on the way to a million.
 */
export const MAX_KEYS = 131_072;

/** Number of parts; a power of two. */
const PARTS = 256;

/**
 * Places of the characters by which keys are divided, counted from the end of the key. The last three characters are
 * left out, so that keys such as `job-1000` to `job-1999` are in one part. Keys with neighboring numbers are often used
 * one after the other, and are then found in the CPU's cache.
 */
const PLACES = [4, 5, 6, 9, 12, 16];

/** Map that is divided into parts when it becomes large. */
export type LargeMap<K, V> = Map<K, V> | PartedMap<K, V>;

/**
 * Map for many keys. No operation takes time proportional to the number of keys.
 *
 * The keys of the map that is divided stay in that map. Further keys go to parts, by a hash of a few characters. Keys
 * that are equal at these characters are in one part, which grows like any other `Map`. All keys that are neither
 * strings nor numbers are in the same part.
 */
export class PartedMap<K, V> {
  size: number;
  /** The parts and, at the end, the map that has been divided. */
  readonly maps: Map<K, V>[];
  /** Number of parts swept so far. */
  #sweeps = 0;

  /** Takes over a map, which must not be used afterwards. */
  constructor(map: Map<K, V>) {
    this.size = map.size;
    this.maps = Array.from({ length: PARTS }, () => new Map());
    this.maps.push(map);
  }

  get(key: K): V | undefined {
    return this.#mapOf(key).get(key);
  }

  has(key: K): boolean {
    return this.#mapOf(key).has(key);
  }

  set(key: K, value: V): void {
    const map = this.#mapOf(key);
    const { size } = map;
    map.set(key, value); // may throw
    this.size += map.size - size;
  }

  delete(key: K): void {
    if (this.#mapOf(key).delete(key)) this.size--;
  }

  /** Removes the entries of the next part that are not to be kept. */
  sweepPart(isKept: (value: V, key: K) => boolean): void {
    const i = this.#sweeps++ % this.maps.length;
    const map = this.maps[i]!;
    const kept = this.maps[i] = copyOf([map], isKept);
    this.size -= map.size - kept.size;
  }

  #mapOf(key: K): Map<K, V> {
    const divided = this.maps[PARTS]!;
    return divided.size > 0 && divided.has(key) ? divided : this.maps[hashOf(key) & (PARTS - 1)]!;
  }
}

/** Returns the map that takes the place of one with {@linkcode MAX_KEYS} keys, before another key is set. */
export function divided<K, V>(map: LargeMap<K, V>): LargeMap<K, V> {
  return map instanceof Map ? new PartedMap(map) : map;
}

/** Creates the error for a key for which the runtime's map has no room beside `size` others. */
export function noRoom(size: number, cause: unknown): RangeError {
  return new RangeError(`Cannot add key: a Map holds no more than ${size}`, { cause });
}

/**
 * Removes the entries of a map that are not to be kept. If the map has many entries, removes those of one part: none is
 * left after a call for each part. Returns the map that takes the place of `map`.
 */
export function swept<K, V>(map: LargeMap<K, V>, isKept: (value: V, key: K) => boolean): LargeMap<K, V> {
  if (map instanceof Map) return copyOf([map], isKept);
  if (map.size < MAX_KEYS / 4) return copyOf(map.maps, isKept);
  map.sweepPart(isKept);
  return map;
}

/** Returns a map of the entries of some maps that are to be kept. */
function copyOf<K, V>(maps: readonly Map<K, V>[], isKept: (value: V, key: K) => boolean): Map<K, V> {
  const copy = new Map<K, V>();
  for (const map of maps) for (const [key, value] of map) if (isKept(value, key)) copy.set(key, value);
  return copy;
}

/** Returns a whole number for a key. Keys that can't be told apart quickly have the same number. */
function hashOf(key: unknown): number {
  let hash = 0;
  if (typeof key === "string") {
    for (const place of PLACES) hash = Math.imul(hash, 31) ^ key.charCodeAt(key.length - place);
  } else if (typeof key === "number") {
    hash = key / 1024 | 0;
  }
  return Math.imul(hash, 0x9e3779b1) >>> 16;
}
