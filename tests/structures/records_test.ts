import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  NONE,
  previousOf,
  RecordList,
  Records,
  setPrevious,
  setTime,
  setTurn,
  timeOf,
  turnOf,
} from "../../lib/structures/records.ts";
import { countWork } from "../map_work.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Takes a record for a key, and sets numbers and links from which the key can be told. */
function takeMarked(records: Records, key: number): number {
  const record = records.take(key, key + 1, key, 0);
  records.setPriority(record, key + 0.25);
  setTime(records, record, key + 0.5);
  setTurn(records, record, key + 4.5);
  records.setLink(record, key + 2);
  setPrevious(records, record, key + 3);
  return record;
}

/** Takes a record for a key. */
function take(records: Records, key: unknown): number {
  return records.take(key, 1, key, 0);
}

function markOf(records: Records, record: number): unknown[] {
  return [
    records.keyOf(record),
    records.stateOf(record),
    records.priorityOf(record),
    timeOf(records, record),
    turnOf(records, record),
    records.linkOf(record),
    previousOf(records, record),
  ];
}

Deno.test("records: thousands of keys come, go and come again as in a map, and each keeps its own numbers", () => {
  for (const [keys, chance] of [[20, 0.5], [3000, 0.5], [3000, 0.7], [100_000, 0.6]] as const) {
    const random = randomNumbers(keys);
    const records = new Records(false, true);
    const map = new Map<number, number>();
    for (const join of [chance, 1 - chance, chance, 0]) { // fills the table, empties it in part, fills it, empties it
      for (let step = 0; step < 20_000; step++) {
        const key = Math.floor(random() * keys);
        const record = map.get(key);
        assertEquals(records.of(key), record ?? NONE);
        if (record === undefined && random() < join) map.set(key, takeMarked(records, key));
        else if (record !== undefined && random() > join) {
          assertEquals(markOf(records, record), [key, key + 1, key + 0.25, key + 0.5, key + 4.5, key + 2, key + 3]);
          records.free(record);
          assertEquals(records.stateOf(record) || 0, 0);
          map.delete(key);
        }
        assertEquals(records.size, map.size);
      }
      assertEquals(new Set(map.values()).size, map.size, "no two keys share a record");
    }
    for (const [key, record] of map) {
      assertEquals(markOf(records, record).slice(0, 2), [key, key + 1]);
      records.free(record);
      assertEquals(records.of(key), NONE);
    }
    assertEquals(records.size, 0);
    assertEquals(take(records, "again"), records.of("again"));
  }
});

Deno.test("records: a free record is used before a new one", () => {
  const records = new Records(false, true);
  const [a, b, c] = ["a", "b", "c"].map((key) => take(records, key));
  assertEquals([a, b, c, [...records.used()]], [0, 1, 2, [0, 1, 2]]);
  records.free(a!);
  records.free(c!);
  assertEquals([take(records, "d"), take(records, "e"), take(records, "f"), [...records.used()]], [2, 0, 3, [
    0,
    1,
    2,
    3,
  ]]);
});

Deno.test("rule 8: records find the keys that a Map finds, and undefined is a key", () => {
  const records = new Records(false, true);
  const object = {};
  const keys = [NaN, 0, undefined, null, "", "1", 1, object, Symbol.iterator];
  const taken = keys.map((key) => take(records, key));
  assertEquals(keys.map((key) => records.of(key)), taken);
  assertEquals([records.of(-0), records.of({}), records.of("0")], [taken[1], NONE, NONE]);
  for (const record of taken) records.free(record);
  assertEquals(keys.map((key) => records.of(key)), keys.map(() => NONE));
  take(records, -0);
  assertEquals(records.of(0), records.of(-0));
});

Deno.test("rule 8: undefined is not found in a page that was freed and is used again", () => {
  const records = new Records(false, false);
  const before = Array.from({ length: 1279 }, (_, key) => take(records, key));
  before.push(take(records, undefined)); // the last record of the fifth page
  for (let key = 2000; key < 2256; key++) take(records, key);
  for (const record of before.slice(1024)) records.free(record); // frees the fifth page
  take(records, "in the fifth page");
  assertEquals(records.of(undefined), NONE);
});

Deno.test("rule 8: records of a table that was large and has been emptied have no key, and undefined is a key", () => {
  const records = new Records(false, true);
  const taken = [undefined, ...Array(100).keys()].map((key) => take(records, key));
  for (const record of taken) records.free(record);
  assertEquals([[...records.used()], records.of(undefined), records.of(0)], [[], NONE, NONE]);
});

Deno.test("records: no operation on many keys moves many of them", () => {
  const records = new Records(false, true);
  const names = Array.from({ length: 560_000 }, (_, i) => `job-${i}`);
  const { largest, mostCalls } = countWork((endOfStep) => {
    for (const [i, name] of names.entries()) { // 140,000 keys, each of which comes after and goes before all others
      take(records, name);
      endOfStep();
      if (i >= 140_000) records.free(records.of(names[i - 140_000]));
      endOfStep();
    }
  });
  assert(largest <= 131_072, `a Map had ${largest} keys`);
  assert(mostCalls <= 10_000, `an operation set ${mostCalls} keys`);
  assertEquals([records.size, [...records.used()].length], [140_000, 140_000]);
  assert(names.slice(-140_000).every((name) => records.keyOf(records.of(name)) === name));
});

Deno.test("records: few records of removed keys are kept beside those in use", () => {
  const records = new Records(false, true);
  const { set } = Map.prototype;
  const maps = new Set<Map<unknown, unknown>>();
  Map.prototype.set = function (key, value) {
    maps.add(this);
    return set.call(this, key, value);
  };
  try {
    for (let key = 0; key < 100; key++) take(records, key);
    for (let key = 100; key < 10_000; key++) {
      records.free(records.of(key - 100));
      take(records, key);
    }
    assertEquals([...maps].at(-1)!.size <= 501, true);
    for (let key = 9_900; key < 10_000; key++) records.free(records.of(key));
    take(records, "alone");
    assertEquals([...maps].at(-1)!.size, 1, "an empty table keeps no key");
    for (let key = 0; key < 1000; key++) {
      take(records, key);
      records.free(records.of(key));
    }
    assertEquals([...maps].at(-1)!.size, 1, "a small table keeps no key");
  } finally {
    Map.prototype.set = set;
  }
});

Deno.test("records: a key that does not fit into the runtime's map is not added, and removing keys makes room", () => {
  const { set } = Map.prototype;
  const records = new Records(false, true);
  Map.prototype.set = function (key, value) {
    if (this.size === 100 && !this.has(key)) throw new RangeError("Map maximum size exceeded");
    return set.call(this, key, value);
  };
  try {
    for (let key = 0; key < 100; key++) take(records, key);
    assertThrows(() => take(records, "more"), RangeError, "Cannot add key: a Map holds no more than 100");
    assertEquals([records.of("more"), records.size], [NONE, 100]);
    records.free(records.of(50));
    const record = take(records, "more");
    assertEquals([records.of("more"), records.of(50), records.size], [record, NONE, 100]);
    assertThrows(() => take(records, "one more"), RangeError, "Cannot add key: a Map holds no more than 100");
  } finally {
    Map.prototype.set = set;
  }
});

Deno.test("records: a list has the same elements as an array, whatever is removed", () => {
  const random = randomNumbers(3);
  const records = new Records(false, true);
  const list = new RecordList(records);
  let array: number[] = [];
  const listed = () => {
    const found: number[] = [];
    for (let record = list.first; record !== NONE; record = records.linkOf(record)) found.push(record);
    return found;
  };
  for (let step = 0; step < 2000; step++) {
    if (random() < 0.5) {
      const record = take(records, step);
      list.append(record);
      array.push(record);
    } else if (array.length > 0) {
      const record = array[Math.floor(random() * array.length)]!;
      list.remove(record);
      records.free(record);
      array = array.filter((each) => each !== record);
    }
    assertEquals([listed(), list.last], [array, array.at(-1) ?? NONE]);
  }
  assertFalse(array.length === 0);
});
