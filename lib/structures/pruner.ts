import type { ChurnMap } from "../base/churn_map.ts";

/**
 * Number of keys checked in each call. If only one key were checked, new keys could be added as fast as expired keys
 * are removed.
 */
const LOOKS = 2;

/**
 * Removes expired values from a map, without a timer and without a scan of the whole map. Each call checks the next two
 * keys, and starts over after the last key. If `prune` is called for each key that is set, the map's size stays within
 * a small multiple of the number of unexpired keys.
 */
export class Pruner<K, V> {
  readonly #map: ChurnMap<K, V>;
  /** Created by the first call, because in V8 an unused iterator keeps every table that the map had since then. */
  #round: Iterator<K> | undefined;

  constructor(map: ChurnMap<K, V>) {
    this.#map = map;
  }

  /** Checks the next keys and removes each key whose value has expired. */
  prune(isOver: (value: V, key: K) => boolean): void {
    for (let looks = 0; looks < LOOKS; looks++) {
      const { done, value: key } = (this.#round ??= this.#map.keys()).next();
      if (done) {
        this.#round = undefined;
        return;
      }
      const value = this.#map.get(key);
      if (value !== undefined && isOver(value, key)) this.#map.remove(key);
    }
  }
}
