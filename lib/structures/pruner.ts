import type { ChurnMap } from "../base/churn_map.ts";

/**
 * Number of keys with values that each call checks, on average. If only one key were checked, new keys could be added
 * as fast as expired keys are removed.
 */
const LOOKS = 2;

/**
 * Removes expired values from a map, without a timer and without a scan of the whole map. Each call checks the next two
 * keys, and starts over after the last key. A call also removes marks of removed keys: as many as there are, on
 * average, for two keys. If `prune` is called for each key that is set, the map's size stays within a small multiple of
 * the number of unexpired keys.
 */
export class Pruner<K, V> {
  readonly #map: ChurnMap<K, V>;
  /**
   * Created by the first call, because in V8 an unused iterator keeps every table that the map has had since the
   * iterator was created.
   */
  #round: Iterator<K> | undefined;
  /** Number of keys and marks to look at in each call of this round. */
  #looks = 0;

  constructor(map: ChurnMap<K, V>) {
    this.#map = map;
  }

  /** Checks the next keys and removes each key whose value has expired. */
  prune(isOver: (value: V, key: K) => boolean): void {
    const map = this.#map;
    if (this.#round === undefined) {
      this.#round = map.keys();
      this.#looks = Math.ceil(LOOKS * Math.max(map.span / map.size || 1, 1));
    }
    for (let looks = 0; looks < this.#looks; looks++) {
      const { done, value: key } = this.#round.next();
      if (done) {
        this.#round = undefined;
        return;
      }
      const value = map.get(key);
      if (value === undefined || isOver(value, key)) map.remove(key, true);
    }
  }
}
