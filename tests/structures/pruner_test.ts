import { assert, assertEquals } from "@std/assert";
import { ChurnMap } from "../../lib/base/churn_map.ts";
import { Pruner } from "../../lib/structures/pruner.ts";
import { randomNumbers } from "../queue_helpers.ts";

Deno.test("pruner: checks two keys per call, round and round, and removes expired ones", () => {
  const map = new ChurnMap<number, number>();
  const pruner = new Pruner(map);
  for (let i = 0; i < 5; i++) map.set(i, i);
  const seen: number[] = [];
  const rounds = Array.from({ length: 6 }, () => {
    pruner.prune((value) => {
      seen.push(value);
      return value === 1 || value === 3;
    });
    return seen.splice(0);
  });
  assertEquals(rounds, [[0, 1], [2, 3], [4], [0, 2], [4], [0, 2]]);
  assertEquals([map.size, map.get(1), map.get(3)], [3, undefined, undefined]);
});

Deno.test("pruner: a map of keys that come one after the other stays small, and keeps entries that are not expired", () => {
  for (const lifetime of [0, 10, 1000]) {
    const map = new ChurnMap<string, number>();
    const pruner = new Pruner(map);
    let largest = 0;
    for (let now = 0; now < 50_000; now++) {
      pruner.prune((until) => until <= now);
      map.set(`key ${now}`, now % 100 === 0 ? Infinity : now + lifetime);
      largest = Math.max(largest, map.size);
    }
    assert(largest <= 5 * (500 + lifetime), `${largest} keys`);
    for (let i = 0; i < 50_000; i += 100) assertEquals(map.get(`key ${i}`), Infinity);
  }
});

Deno.test("pruner: a map of many keys stays small, whatever share of them is removed before it expires", () => {
  const lifetime = 60_000;
  for (const removed of [0, 0.7]) {
    const random = randomNumbers(7);
    const map = new ChurnMap<number, number>();
    const pruner = new Pruner(map);
    let [largest, widest] = [0, 0];
    for (let now = 0; now < 6 * lifetime; now++) {
      pruner.prune((until) => until <= now);
      map.set(now, now + lifetime);
      if (random() < removed) map.delete(Math.floor(now - random() * 1000));
      largest = Math.max(largest, map.size);
      widest = Math.max(widest, map.span);
    }
    assert(largest <= 3 * lifetime, `${largest} keys`);
    assert(widest <= 5 * largest, `${widest} keys and marks, of ${largest} keys`);
  }
});

Deno.test("pruner: continues while keys come, go and come again, and misses none in the long run", () => {
  const random = randomNumbers(11);
  const map = new ChurnMap<number, boolean>();
  const pruner = new Pruner(map);
  for (let i = 0; i < 20_000; i++) {
    const key = Math.floor(random() * 3000);
    if (random() < 0.5) map.set(key, key % 2 === 0);
    else map.delete(key);
    pruner.prune((isOver) => isOver);
  }
  for (let i = 0; i < 20_000; i++) pruner.prune((isOver) => isOver);
  for (let key = 0; key < 3000; key += 2) assertEquals(map.get(key), undefined);
  assert(map.size > 100);
});

Deno.test("pruner: an unused pruner keeps no iterator, which would keep old tables of the map in memory", () => {
  class Watched extends ChurnMap<number, number> {
    iterators = 0;
    override keys(): Iterator<number> {
      this.iterators++;
      return super.keys();
    }
  }
  const map = new Watched();
  const pruner = new Pruner(map);
  assertEquals(map.iterators, 0);
  map.set(1, 1);
  pruner.prune(() => false); // to the end of the map
  assertEquals(map.iterators, 1);
  pruner.prune(() => false);
  assertEquals(map.iterators, 2);
});
