import type { ChurnMap } from "./churn_map.ts";

/** Keys checked in each call. At one, new keys could come as fast as expired ones are removed. */
const LOOKS = 2;

/**
 * Removes expired values from a map, without a timer and without a scan of the whole map. Each call checks the next two
 * keys, round and round. If it is called for each key that is set, the size of the map stays within a small multiple of
 * its unexpired keys.
 */
export class Pruner<K, V> {
  readonly #map: ChurnMap<K, V>;
  #round: Iterator<K>;

  constructor(map: ChurnMap<K, V>) {
    this.#map = map;
    this.#round = map.keys();
  }

  /** Checks the next keys and removes those whose values have expired. */
  prune(isOver: (value: V, key: K) => boolean): void {
    for (let looks = 0; looks < LOOKS; looks++) {
      const { done, value: key } = this.#round.next();
      if (done) {
        this.#round = this.#map.keys();
        return;
      }
      const value = this.#map.get(key);
      if (value !== undefined && isOver(value, key)) this.#map.remove(key);
    }
  }
}
