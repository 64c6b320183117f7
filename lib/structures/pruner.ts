import type { ChurnMap } from "./churn_map.ts";

/** How many keys it looks at each time: more than one, or keys that come each time would outrun it. */
const LOOKS = 2;

/**
 * Rids a map of what is over, with no timer and no look at all of it at once: each call looks at the next two keys,
 * round and round. Called with each key that is set, it keeps the map within a small multiple of what is not over.
 */
export class Pruner<K, V> {
  readonly #map: ChurnMap<K, V>;
  #round: Iterator<K>;

  constructor(map: ChurnMap<K, V>) {
    this.#map = map;
    this.#round = map.keys();
  }

  /** Removes those of the next keys whose values are over. */
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
