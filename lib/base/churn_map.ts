import { MARK, MarkingMap } from "./marking_map.ts";
import type { PartedMap } from "./parted_map.ts";

/** Map for keys that are added and removed often, which can be iterated over while its keys change. */
export class ChurnMap<K, V> extends MarkingMap<K, V> {
  /** Number of keys that {@linkcode ChurnMap.keys} returns, including marked ones. */
  get span(): number {
    return this.table.size;
  }

  /**
   * Iterates over all keys, including marked keys. Keys that are set during the iteration are included, unless the map
   * is swept or divided first. After that, the iteration continues over the earlier keys.
   */
  keys(): Iterator<K> {
    const map = this.table;
    return map instanceof Map ? map.keys() : keysOf(map);
  }

  /** Iterates over the keys that have a value, with their values. */
  *entries(): Generator<[K, V], void> {
    const map = this.table;
    for (const entry of map instanceof Map ? map : entriesOf(map)) if (entry[1] !== MARK) yield entry as [K, V];
  }
}

/** Iterates over the entries of the map that has been divided, and then takes one from each part in turn. */
function* entriesOf<K, V>({ maps }: PartedMap<K, V>): Generator<[K, V], void> {
  yield* maps.at(-1)!;
  let iterators = maps.slice(0, -1).map((map) => map.entries());
  while (iterators.length > 0) {
    const unfinished: typeof iterators = [];
    for (const iterator of iterators) {
      const { done, value } = iterator.next();
      if (done) continue;
      unfinished.push(iterator);
      yield value;
    }
    iterators = unfinished;
  }
}

function* keysOf<K, V>(map: PartedMap<K, V>): Generator<K, void> {
  for (const [key] of entriesOf(map)) yield key;
}
