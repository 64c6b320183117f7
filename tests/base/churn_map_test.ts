import { assert, assertEquals } from "@std/assert";
import { ChurnMap } from "../../lib/base/churn_map.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Returns a map that is so large that deleting a key only marks it as deleted. */
function large(): ChurnMap<string, number> {
  const map = new ChurnMap<string, number>();
  for (let i = 0; i < 100; i++) map.set(`other ${i}`, i);
  return map;
}

Deno.test("churn map: a key that comes back keeps its place, and the map says so", () => {
  const map = large();
  assertEquals([map.set("hot", 1), map.size, map.span], [false, 101, 101]);
  map.remove("hot");
  assertEquals([map.get("hot"), map.size, map.span], [undefined, 100, 101]);
  assertEquals([map.set("hot", 2), map.size, map.span], [true, 101, 101]);
  assertEquals([map.get("hot"), map.set("hot", 3), map.get("hot")], [2, false, 3]);
  assertEquals([map.set("new", 4), [...{ [Symbol.iterator]: () => map.keys() }].at(-1)], [false, "new"]);
});

Deno.test("churn map: one that is drained keeps few of its keys, and a small one none", () => {
  const map = large();
  for (let i = 0; i < 100; i++) {
    map.remove(`other ${i}`);
    assert(map.span <= 5 * map.size + 1 || map.span <= 100 - i);
  }
  assertEquals([map.size, map.span], [0, 0]);
  map.set("a", 1);
  map.remove("a");
  assertEquals([map.size, map.span], [0, 0]);
});

Deno.test("churn map: delete of what is not there, or not any more, changes nothing", () => {
  const map = large();
  map.delete("stranger");
  map.set("hot", 1);
  map.delete("hot");
  map.delete("hot");
  assertEquals([map.size, map.get("hot")], [100, undefined]);
});

Deno.test("churn map: a sweep keeps the order of the keys", () => {
  const map = new ChurnMap<number, number>();
  for (let key = 0; key < 50; key++) map.set(key, key);
  for (let key = 0; key < 41; key++) map.remove(key);
  assertEquals(map.span, 9);
  assertEquals([...{ [Symbol.iterator]: () => map.keys() }], [41, 42, 43, 44, 45, 46, 47, 48, 49]);
});

Deno.test("churn map: undefined is a value like any other", () => {
  const map = new ChurnMap<string, undefined>();
  map.set("a", undefined);
  assertEquals(map.size, 1);
  map.delete("a");
  assertEquals(map.size, 0);
});

Deno.test("churn map: whatever is done to it, it holds what a Map does", () => {
  const random = randomNumbers(5);
  for (const keys of [10, 200, 2000]) {
    const map = new ChurnMap<number, number>();
    const plain = new Map<number, number>();
    for (let step = 0; step < 20_000; step++) {
      const key = Math.floor(random() * keys);
      const isDraining = step % 5000 > 3500;
      if (random() < (isDraining ? 0.1 : 0.6)) {
        map.set(key, step);
        plain.set(key, step);
      } else {
        map.delete(key);
        plain.delete(key);
      }
      assertEquals([map.size, map.get(key)], [plain.size, plain.get(key)]);
    }
    for (let key = 0; key < keys; key++) assertEquals(map.get(key), plain.get(key));
  }
});
