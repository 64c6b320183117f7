import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { NONE, SeatList, Seats } from "../../lib/structures/seats.ts";
import { countWork } from "../map_work.ts";
import { randomNumbers } from "../queue_helpers.ts";

/** Takes a seat for a key, and sets numbers and links from which the key can be told. */
function takeMarked(seats: Seats, key: number): number {
  const seat = seats.take(key);
  seats.setTicket(seat, key + 1);
  seats.setPriority(seat, key + 0.25);
  seats.setTime(seat, key + 0.5);
  seats.setNext(seat, key + 2);
  seats.setPrevious(seat, key + 3);
  return seat;
}

function markOf(seats: Seats, seat: number): unknown[] {
  return [
    seats.keyOf(seat),
    seats.ticketOf(seat),
    seats.priorityOf(seat),
    seats.timeOf(seat),
    seats.nextOf(seat),
    seats.previousOf(seat),
  ];
}

Deno.test("seats: thousands of keys come, go and come again as in a map, and each keeps its own numbers", () => {
  for (const [keys, chance] of [[20, 0.5], [3000, 0.5], [3000, 0.7], [100_000, 0.6]] as const) {
    const random = randomNumbers(keys);
    const seats = new Seats();
    const map = new Map<number, number>();
    for (const join of [chance, 1 - chance, chance, 0]) { // fills the table, empties it in part, fills it, empties it
      for (let step = 0; step < 20_000; step++) {
        const key = Math.floor(random() * keys);
        const seat = map.get(key);
        assertEquals(seats.seatOf(key), seat ?? NONE);
        if (seat === undefined && random() < join) map.set(key, takeMarked(seats, key));
        else if (seat !== undefined && random() > join) {
          assertEquals(markOf(seats, seat), [key, key + 1, key + 0.25, key + 0.5, key + 2, key + 3]);
          seats.free(seat);
          assertEquals(seats.ticketOf(seat) || 0, 0);
          map.delete(key);
        }
        assertEquals(seats.size, map.size);
      }
      assertEquals(new Set(map.values()).size, map.size, "no two keys share a seat");
    }
    for (const [key, seat] of map) {
      assertEquals(markOf(seats, seat).slice(0, 2), [key, key + 1]);
      seats.free(seat);
      assertEquals(seats.seatOf(key), NONE);
    }
    assertEquals(seats.size, 0);
    assertEquals(seats.take("again"), seats.seatOf("again"));
  }
});

Deno.test("seats: a seat that is free is taken before a new one", () => {
  const seats = new Seats();
  const [a, b, c] = ["a", "b", "c"].map((key) => seats.take(key));
  assertEquals([a, b, c, seats.span], [0, 1, 2, 3]);
  seats.free(a!);
  seats.free(c!);
  assertEquals([seats.take("d"), seats.take("e"), seats.take("f"), seats.span], [2, 0, 3, 4]);
});

Deno.test("rule 8: seats find the keys that a Map finds, and undefined is a key", () => {
  const seats = new Seats();
  const object = {};
  const keys = [NaN, 0, undefined, null, "", "1", 1, object, Symbol.iterator];
  const taken = keys.map((key) => seats.take(key));
  assertEquals(keys.map((key) => seats.seatOf(key)), taken);
  assertEquals([seats.seatOf(-0), seats.seatOf({}), seats.seatOf("0")], [taken[1], NONE, NONE]);
  for (const seat of taken) seats.free(seat);
  assertEquals(keys.map((key) => seats.seatOf(key)), keys.map(() => NONE));
  seats.take(-0);
  assertEquals(seats.seatOf(0), seats.seatOf(-0));
});

Deno.test("rule 8: seats of a table that was large and has been emptied have no key, and undefined is a key", () => {
  const seats = new Seats();
  const taken = [undefined, ...Array(100).keys()].map((key) => seats.take(key));
  for (const seat of taken) seats.free(seat);
  assertEquals([seats.span, seats.seatOf(undefined), seats.seatOf(0)], [0, NONE, NONE]);
});

Deno.test("seats: no operation on many keys moves many of them", () => {
  const seats = new Seats();
  const names = Array.from({ length: 560_000 }, (_, i) => `job-${i}`);
  const { largest, mostCalls } = countWork((endOfStep) => {
    for (const [i, name] of names.entries()) { // 140,000 keys, each of which comes after and goes before all others
      seats.take(name);
      endOfStep();
      if (i >= 140_000) seats.free(seats.seatOf(names[i - 140_000]));
      endOfStep();
    }
  });
  assert(largest <= 131_072, `a Map had ${largest} keys`);
  assert(mostCalls <= 10_000, `an operation set ${mostCalls} keys`);
  assertEquals([seats.size, seats.span], [140_000, 140_001]);
  assert(names.slice(-140_000).every((name) => seats.keyOf(seats.seatOf(name)) === name));
});

Deno.test("seats: of keys that are gone, few are kept beside those that are there", () => {
  const seats = new Seats();
  const { set } = Map.prototype;
  const maps = new Set<Map<unknown, unknown>>();
  Map.prototype.set = function (key, value) {
    maps.add(this);
    return set.call(this, key, value);
  };
  try {
    for (let key = 0; key < 100; key++) seats.take(key);
    for (let key = 100; key < 10_000; key++) {
      seats.free(seats.seatOf(key - 100));
      seats.take(key);
    }
    assertEquals([...maps].at(-1)!.size <= 501, true);
    for (let key = 9_900; key < 10_000; key++) seats.free(seats.seatOf(key));
    seats.take("alone");
    assertEquals([...maps].at(-1)!.size, 1, "an empty table keeps no key");
    for (let key = 0; key < 1000; key++) {
      seats.take(key);
      seats.free(seats.seatOf(key));
    }
    assertEquals([...maps].at(-1)!.size, 1, "a small table keeps no key");
  } finally {
    Map.prototype.set = set;
  }
});

Deno.test("seats: a key for which the runtime's map has no room is not there, and keys that are gone make room", () => {
  const { set } = Map.prototype;
  const seats = new Seats();
  Map.prototype.set = function (key, value) {
    if (this.size === 100 && !this.has(key)) throw new RangeError("Map maximum size exceeded");
    return set.call(this, key, value);
  };
  try {
    for (let key = 0; key < 100; key++) seats.take(key);
    assertThrows(() => seats.take("more"), RangeError, "Cannot add key: a Map holds no more than 100");
    assertEquals([seats.seatOf("more"), seats.size, seats.span], [NONE, 100, 100]);
    seats.free(seats.seatOf(50));
    const seat = seats.take("more");
    assertEquals([seats.seatOf("more"), seats.seatOf(50), seats.size, seats.span], [seat, NONE, 100, 100]);
    assertThrows(() => seats.take("one more"), RangeError, "Cannot add key: a Map holds no more than 100");
  } finally {
    Map.prototype.set = set;
  }
});

Deno.test("seats: a list is that of an array, whatever is removed", () => {
  const random = randomNumbers(3);
  const seats = new Seats();
  const list = new SeatList();
  let array: number[] = [];
  for (let step = 0; step < 2000; step++) {
    if (random() < 0.5) {
      const seat = seats.take(step);
      list.append(seats, seat);
      array.push(seat);
    } else if (array.length > 0) {
      const seat = array[Math.floor(random() * array.length)]!;
      list.remove(seats, seat);
      seats.free(seat);
      array = array.filter((each) => each !== seat);
    }
    assertEquals([list.length, list.first, list.last], [array.length, array[0] ?? NONE, array.at(-1) ?? NONE]);
    assertEquals(list.list(seats, 5), array.slice(0, 5));
  }
  assertFalse(array.length === 0);
});
