import { assert, assertEquals, assertThrows } from "@std/assert";
import { ChurnMap } from "../../lib/base/churn_map.ts";
import { countWork } from "../map_work.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Returns a map that is so large that deleting a key only marks it as deleted. */
function large(): ChurnMap<string, number> {
  const map = new ChurnMap<string, number>();
  for (let i = 0; i < 100; i++) map.set(`other ${i}`, i);
  return map;
}

Deno.test("churn map: a key that comes back keeps its place, and the map reports it", () => {
  const map = large();
  assertEquals([map.set("hot", 1), map.size, map.span], [false, 101, 101]);
  map.remove("hot");
  assertEquals([map.get("hot"), map.size, map.span], [undefined, 100, 101]);
  assertEquals([map.set("hot", 2), map.size, map.span], [true, 101, 101]);
  assertEquals([map.get("hot"), map.set("hot", 3), map.get("hot")], [2, false, 3]);
  assertEquals([map.set("new", 4), [...{ [Symbol.iterator]: () => map.keys() }].at(-1)], [false, "new"]);
});

Deno.test("churn map: a drained map keeps few of its keys, and a small one none", () => {
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

Deno.test("churn map: deleting an absent or deleted key changes nothing", () => {
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

Deno.test("churn map: under random calls, it has the same content as a Map", () => {
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

/** Number of keys of a large map. A map is divided when it has 131,072 keys. */
const MANY = 200_000;

const kindsOfKeys: Record<string, (i: number) => unknown> = {
  "numbered names": (i) => `job-${i}`,
  "names of a fixed length": (i) => `namespace/name-${String(i).padStart(7, "0")}`,
  "equal ends": (i) => `https://host.example/${i}/index.html`,
  "short names": (i) => i.toString(36),
  "random names": (i) => `${Math.imul(i + 1, 0x9e3779b1) >>> 0}-${Math.imul(i + 1, 0x85ebca6b) >>> 0}`,
  "numbers": (i) => i,
  "numbers far apart": (i) => i * 4096,
};

for (const [kind, keyOf] of Object.entries(kindsOfKeys)) {
  Deno.test(`churn map: no operation on many keys, ${kind}, moves many of them`, () => {
    const map = new ChurnMap<unknown, number>();
    const keys = Array.from({ length: 280_000 }, (_, i) => keyOf(i));
    const filling = countWork((endOfStep) => {
      for (const [i, key] of keys.entries()) {
        map.set(key, i);
        endOfStep();
      }
    });
    assert(filling.largest <= 131_072, `a Map had ${filling.largest} keys`);
    assert(filling.mostCalls <= 10, `an operation set ${filling.mostCalls} keys`);
    assertEquals([map.size, map.span], [280_000, 280_000]);
    assert(keys.every((key, i) => map.get(key) === i));
    const draining = countWork((endOfStep) => {
      for (const key of keys) {
        map.remove(key);
        endOfStep();
      }
    });
    assert(draining.mostCalls <= 10_000, `an operation set ${draining.mostCalls} keys`);
    assertEquals([map.size, map.span], [0, 0]);
  });
}

Deno.test("churn map: keys that can't be divided are in one map, however many there are", () => {
  const objects = Array.from({ length: MANY }, (_, i) => ({ i }));
  const map = new ChurnMap<unknown, number>();
  for (const [i, key] of objects.entries()) map.set(key, i);
  assertEquals([map.size, map.get(objects[7]), map.get(objects.at(-1))], [MANY, 7, MANY - 1]);
  assertEquals(Array.from(map.entries(), ([key]) => key), objects);

  const same = new ChurnMap<unknown, number>();
  const end = "-".repeat(50);
  for (let i = 0; i < MANY; i++) same.set(i + end, i);
  assertEquals([same.size, same.get(7 + end), same.get(MANY + end)], [MANY, 7, undefined]);
  assertEquals(Array.from(same.entries(), ([, i]) => i), Array.from({ length: MANY }, (_, i) => i));
});

/** Compares the entries and keys of a map with those of a `Map`. */
function assertSameEntries(map: ChurnMap<unknown, number>, plain: Map<unknown, number>): void {
  const entries = [...map.entries()];
  assertEquals(entries.length, plain.size);
  assertEquals(new Set(entries.map(([key]) => key)).size, plain.size);
  assert(entries.every(([key, value]) => plain.get(key) === value));
  const keys = new Set<unknown>();
  for (const key of { [Symbol.iterator]: () => map.keys() }) if (map.get(key) !== undefined) keys.add(key);
  assertEquals(keys.size, plain.size);
}

Deno.test("churn map: a map that was divided and is small again has the same content as a Map", () => {
  const random = randomNumbers(8);
  const objects = Array.from({ length: 20_000 }, (_, i) => ({ i }));
  const map = new ChurnMap<unknown, number>();
  const plain = new Map<unknown, number>();
  const keyOf = (i: number) => i < objects.length ? objects[i] : i % 3 === 0 ? i : `job-${i}`;
  const keys = Array.from({ length: 150_000 }, (_, i) => keyOf(i));
  for (const key of keys) { // so many that the map is divided
    map.set(key, 0);
    plain.set(key, 0);
  }
  for (const share of [0.5, 0.1, 1, 0]) {
    for (let step = 0; step < 100_000; step++) {
      const key = keys[Math.floor(random() * keys.length)];
      if (random() < share) {
        map.set(key, step);
        plain.set(key, step);
      } else {
        map.delete(key);
        plain.delete(key);
      }
      if (map.size !== plain.size || map.get(key) !== plain.get(key)) assertEquals(map.get(key), plain.get(key));
    }
    assertEquals(map.size, plain.size);
    assertSameEntries(map, plain);
  }
  for (const key of plain.keys()) map.remove(key);
  assertEquals([map.size, map.span], [0, 0]);
});

Deno.test("churn map: an iteration during which the map is divided returns each earlier key, and none twice", () => {
  const map = new ChurnMap<unknown, number>();
  for (let i = 0; i < 131_100; i++) map.set(`job-${i}`, i);
  const seen = new Set<unknown>();
  let next = 131_100;
  for (const [key] of map.entries()) {
    assert(!seen.has(key));
    seen.add(key);
    if (next < 200_000) map.set(`job-${next}`, next++);
  }
  for (let i = 0; i < 131_100; i++) assert(seen.has(`job-${i}`));
});

Deno.test("churn map: keys that are marked when the map is divided can be set again, or stay removed", () => {
  const map = new ChurnMap<unknown, number>();
  for (let i = 0; i < 131_072; i++) map.set(`job-${i}`, i);
  for (let i = 0; i < 50; i++) map.remove(`job-${131_000 + i}`);
  assertEquals([map.size, map.span], [131_022, 131_072]);
  map.set("new", 1);
  assertEquals([map.set("job-131000", 2), map.get("job-131000"), map.get("job-131001")], [true, 2, undefined]);
  map.delete("job-131001");
  assertEquals([map.size, map.get("new")], [131_024, 1]);
  for (let i = 0; i < 70_000; i++) map.set(`more-${i}`, i);
  assertEquals(map.size, 201_024);
  for (let i = 0; i < 131_000; i++) assert(i === 131_001 || map.get(`job-${i}`) === i);
});

Deno.test("churn map: a divided map marks a removed key, and reports that a marked key was set", () => {
  const map = new ChurnMap<unknown, number>();
  for (let i = 0; i < 300_000; i++) map.set(`job-${i}`, i);
  map.remove("job-7");
  assertEquals([map.size, map.span, map.get("job-7")], [299_999, 300_000, undefined]);
  map.delete("job-7");
  assertEquals([map.size, map.set("job-7", 8), map.get("job-7"), map.size], [299_999, true, 8, 300_000]);
});

Deno.test("churn map: many keys that come and go leave few marks, and no operation removes many marks", () => {
  const map = new ChurnMap<unknown, number>();
  const names = Array.from({ length: 840_000 }, (_, i) => `job-${i}`);
  for (let i = 0; i < 140_000; i++) map.set(names[i], i);
  const { mostCalls } = countWork((endOfStep) => {
    for (let i = 140_000; i < 840_000; i++) {
      map.set(names[i], i);
      endOfStep();
      map.remove(names[i - 140_000]);
      endOfStep();
    }
  });
  assert(mostCalls <= 10_000, `an operation set ${mostCalls} keys`);
  assertEquals([map.size, map.get("job-700000"), map.get("job-699999")], [140_000, 700_000, undefined]);
  assert(map.span <= 770_000, `${map.span} keys and marks`);
  for (let i = 700_000; i < 839_900; i++) {
    map.remove(names[i]);
    if (i % 50 === 0) map.set(names[i + 1], i); // so that keys are marked instead of deleted
  }
  assert(map.span <= 5 * map.size + 1, `${map.span} keys and marks of ${map.size} keys`);
});

Deno.test("churn map: an iteration over many keys of one part takes few steps per key", () => {
  const map = new ChurnMap<unknown, number>();
  for (let i = 0; i < MANY; i++) map.set({ i }, i);
  const prototype = Object.getPrototypeOf(new Map().entries());
  const { next } = prototype;
  let [steps, keys] = [0, 0];
  prototype.next = function () {
    steps++;
    return next.call(this);
  };
  try {
    for (const _ of map.entries()) keys++;
  } finally {
    prototype.next = next;
  }
  assertEquals(keys, MANY);
  assert(steps <= MANY + 1000, `${steps} steps`);
});

Deno.test("churn map: a failed attempt to set a key for which no part has room changes nothing", () => {
  const map = new ChurnMap<unknown, number>();
  const keys = Array.from({ length: 140_000 }, (_, i) => ({ i }));
  for (const [i, key] of keys.entries()) map.set(key, i);
  const { set } = Map.prototype;
  Map.prototype.set = function () {
    throw new RangeError("Map maximum size exceeded");
  };
  try {
    assertThrows(() => map.set({}, 0), RangeError, "Cannot add key: a Map holds no more than 140000");
  } finally {
    Map.prototype.set = set;
  }
  assertEquals([map.size, map.span], [140_000, 140_000]);
  for (const key of keys) map.remove(key);
  assertEquals(map.size, 0);
});
