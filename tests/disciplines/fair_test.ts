import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createFairDiscipline,
  createPriorityDiscipline,
  createWorkQueue,
  type DisciplineConfig,
  disciplines,
  type FairOptions,
  type QueueDiscipline,
  type ReadyEntry,
} from "@workqueue/core";
import { builtInDisciplines } from "../../docs/generate/built_ins.ts";
import { HandClock, issuesOf } from "../helpers.ts";
import { PlainLifo, take, takeAll } from "../queue_helpers.ts";
import { Entries } from "./entries.ts";

function fairQueue(options: Omit<FairOptions<string>, "groupOf" | "separator"> = {}) {
  const discipline = createFairDiscipline<string>({ separator: "/", ...options });
  return { discipline, queue: createWorkQueue<string>({ discipline, clock: new HandClock() }) };
}

/** Takes `count` items and finishes each at once. Returns the groups of the items, one character each. */
function turns(queue: ReturnType<typeof fairQueue>["queue"], count: number): string {
  return Array.from({ length: count }, () => {
    using lease = take(queue);
    return lease.item[0];
  }).join("");
}

function addMany(queue: ReturnType<typeof fairQueue>["queue"], group: string, count: number): void {
  for (let i = 0; i < count; i++) queue.add(`${group}/${i}`);
}

Deno.test("fair: groups take turns, however many items each has; each group is first in, first out", () => {
  const { queue } = fairQueue();
  addMany(queue, "a", 4);
  addMany(queue, "b", 2);
  assertEquals(takeAll(queue), ["a/0", "b/0", "a/1", "b/1", "a/2", "a/3"]);
});

Deno.test("fair: a newcomer waits for one item of each group, even if the groups had many turns", () => {
  const { queue } = fairQueue();
  addMany(queue, "a", 50);
  addMany(queue, "b", 50);
  turns(queue, 41);
  addMany(queue, "c", 2);
  assertEquals(turns(queue, 6), "bcabca");
});

Deno.test("fair: weights set how many turns a group gets", () => {
  const { queue } = fairQueue({ weights: { a: 3, b: 0.5 } });
  for (const group of ["a", "b", "c"]) addMany(queue, group, 90);
  const [...order] = turns(queue, 90);
  assertEquals(["a", "b", "c"].map((group) => order.filter((each) => each === group).length), [60, 10, 20]);
});

Deno.test("fair: a group that was idle saves up no turns", () => {
  const { queue } = fairQueue();
  queue.add("a/x");
  addMany(queue, "b", 100);
  turns(queue, 60);
  addMany(queue, "a", 100);
  assertEquals([...turns(queue, 20)].filter((group) => group === "a").length, 10);
});

Deno.test("fair: a group that adds its only item again and again gets its share beside a backlog, and no more", () => {
  const { queue } = fairQueue();
  addMany(queue, "b", 1000);
  let mine = 0;
  for (let i = 0; i < 500; i++) {
    queue.add("a/x");
    if (turns(queue, 1) === "a") mine++;
  }
  assertEquals(mine, 250);
});

Deno.test("fair: a group never has more processing items than its limit, and the other groups continue", () => {
  const { queue, discipline } = fairQueue({ maxPerGroup: 2 });
  addMany(queue, "a", 4);
  addMany(queue, "b", 1);
  assertEquals([queue.length, discipline.blocked], [3, 2]);
  const leases = [take(queue), take(queue), take(queue)];
  assertEquals(leases.map(({ item }) => item), ["a/0", "b/0", "a/1"]);
  assertEquals([queue.length, discipline.blocked, queue.tryGet()], [0, 2, undefined]);
  leases[1]![Symbol.dispose]();
  assertEquals(queue.length, 0);
  leases[0]![Symbol.dispose]();
  assertEquals([queue.length, discipline.blocked], [1, 1]);
  assertEquals(take(queue).item, "a/2");
});

Deno.test("fair: when an item of a group is done, a waiting get receives the next item of the group", async () => {
  const { queue } = fairQueue({ maxPerGroup: 1 });
  addMany(queue, "a", 2);
  const first = take(queue);
  const waiting = queue.get();
  first[Symbol.dispose]();
  assertEquals((await waiting).item, "a/1");
});

Deno.test("fair: an item that is added again while processing counts as processing until it is done", () => {
  const { queue, discipline } = fairQueue({ maxPerGroup: 1 });
  addMany(queue, "a", 2);
  const lease = take(queue);
  queue.add("a/0");
  assertEquals([queue.length, discipline.blocked], [0, 1]);
  lease[Symbol.dispose]();
  assertEquals([queue.length, discipline.blocked], [1, 1]);
  assertEquals(takeAll(queue), ["a/1", "a/0"]);
});

Deno.test("fair: a group that was blocked gets no extra turns afterwards", () => {
  const { queue } = fairQueue({ maxPerGroup: 1 });
  addMany(queue, "a", 50);
  for (const group of ["b", "c", "d"]) addMany(queue, group, 50);
  const blocked = take(queue);
  assertEquals(turns(queue, 30).includes("a"), false);
  blocked[Symbol.dispose]();
  assertEquals([...turns(queue, 16)].filter((group) => group === "a").length, 4);
});

Deno.test("fair: each group has its own inner discipline, which gets every call", () => {
  let made = 0;
  const within = () => {
    made++;
    return createPriorityDiscipline<string>();
  };
  const { queue } = fairQueue({ within });
  assertEquals(made, 0);
  addMany(queue, "a", 3);
  queue.add("a/2", { priority: 50 });
  addMany(queue, "b", 2);
  queue.add("b/high", { priority: 5 });
  assertEquals(made, 2);
  assertEquals(takeAll(queue), ["a/2", "b/high", "a/0", "b/0", "a/1", "b/1"]);
});

Deno.test("fair: inside another fair discipline, the bounds of both hold", () => {
  const discipline = createFairDiscipline<string>({
    groupOf: (key) => key[0],
    maxPerGroup: 3,
    within: () => createFairDiscipline({ groupOf: (key: string) => key[1], maxPerGroup: 1 }),
  });
  const queue = createWorkQueue<string>({ discipline });
  for (const key of ["ax1", "ax2", "ay1", "az1", "aw1", "bx1", "bx2"]) queue.add(key);
  assertEquals([queue.length, discipline.blocked], [4, 3]);
  const leases = [1, 2, 3, 4].map(() => take(queue));
  assertEquals(leases.map(({ item }) => item), ["ax1", "bx1", "ay1", "az1"]);
  assertEquals([queue.length, discipline.blocked], [0, 3]);
  leases[1]![Symbol.dispose](); // ends bx1, so bx2 becomes ready
  assertEquals([queue.length, discipline.blocked], [1, 2]);
  leases[0]![Symbol.dispose](); // ends ax1, so ax2 or aw1 becomes ready
  assertEquals([queue.length, discipline.blocked], [2, 1]);
  for (const lease of leases) lease[Symbol.dispose]();
  assertEquals(takeAll(queue).toSorted(), ["aw1", "ax2", "bx2"]);
});

Deno.test("fair: an inner discipline is told when its items are done, even if groups have no limit", () => {
  const discipline = createFairDiscipline<string>({
    groupOf: (key) => key[0],
    within: () => createFairDiscipline({ groupOf: (key: string) => key[1], maxPerGroup: 1 }),
  });
  const queue = createWorkQueue<string>({ discipline });
  for (const key of ["ax1", "ax2", "ax3"]) queue.add(key);
  assertEquals([queue.length, discipline.blocked], [1, 2]);
  assertEquals(takeAll(queue), ["ax1", "ax2", "ax3"]);
});

Deno.test("fair: an inner discipline is touched for ready items, and not for items that were handed out", () => {
  const touched: unknown[] = [];
  class Noting extends PlainLifo<number> {
    override touch(entry: ReadyEntry<number>) {
      touched.push(entry.key);
    }
  }
  const discipline = createFairDiscipline<number>({ groupOf: () => "a", within: () => new Noting() });
  const made = new Entries();
  const [first, last] = [made.next(0), made.next(0)];
  discipline.push(first);
  discipline.push(last);
  discipline.pop();
  for (const entry of [first, last]) discipline.touch(entry);
  assertEquals(touched, [0]);
});

Deno.test("fair: touch ignores an entry that was handed out, and done ignores a ready entry", () => {
  const discipline = createFairDiscipline<number>({
    groupOf: () => "a",
    maxPerGroup: 2,
    within: () => createPriorityDiscipline(),
  });
  const made = new Entries();
  const [first, second, third] = [made.next(0), made.next(0), made.next(0)];
  for (const entry of [first, second, third]) discipline.push(entry);
  assertEquals(discipline.pop(), first);
  first.priority = 100;
  discipline.touch(first);
  for (const entry of [second, made.next(0)]) discipline.done!(entry);
  assertEquals([discipline.length, discipline.blocked], [1, 1]);
  third.priority = 1;
  discipline.touch(third);
  assertEquals([discipline.pop(), discipline.pop()], [third, undefined]);
  for (let times = 0; times < 2; times++) discipline.done!(first);
  assertEquals([discipline.length, discipline.pop(), discipline.blocked], [1, second, 0]);
});

Deno.test("fair: an entry that was handed out before its push failed is gone, and takes no other entry's place", () => {
  let isFailing = true;
  class Eager extends PlainLifo<number> {
    override push(entry: ReadyEntry<number>) {
      super.push(entry);
      if (!isFailing) return;
      isFailing = false;
      discipline.push(second);
      assertEquals([discipline.pop(), discipline.pop()], [second, first]);
      throw new Error("too late");
    }
  }
  const discipline = createFairDiscipline<number>({ groupOf: () => "a", maxPerGroup: 2, within: () => new Eager() });
  const made = new Entries();
  const [first, second, third, fourth] = [made.next(0), made.next(0), made.next(0), made.next(0)];
  assertThrows(() => discipline.push(first), Error, "too late");
  for (const entry of [second, first]) discipline.done!(entry);
  for (const entry of [third, fourth]) discipline.push(entry);
  assertEquals([discipline.pop(), discipline.pop(), discipline.pop()], [fourth, third, undefined]);
});

Deno.test("fair: the function that makes the inner discipline may add to the queue, even to the same group", () => {
  let made = 0;
  const { queue, discipline } = fairQueue({
    maxPerGroup: 1,
    within: () => {
      if (made++ === 0) queue.add("a/inner");
      return createPriorityDiscipline();
    },
  });
  queue.add("a/outer");
  queue.add("a/later");
  assertEquals([queue.length, discipline.blocked], [1, 2]);
  assertEquals(takeAll(queue).toSorted(), ["a/inner", "a/later", "a/outer"]);
});

Deno.test("fair: groupOf is called when an item becomes ready, and only then", () => {
  const asked: string[] = [];
  const groupOf = ({ id, group }: { id: number; group: string }) => {
    asked.push(`${id} ${group}`);
    return group;
  };
  const queue = createWorkQueue({
    discipline: createFairDiscipline({ groupOf, maxPerGroup: 1, within: () => createPriorityDiscipline() }),
    keyOf: ({ id }: { id: number }) => id,
  });
  queue.add({ id: 1, group: "a" });
  queue.add({ id: 1, group: "b" }); // the newer item replaces the older one, and the key keeps its group
  const lease = take(queue);
  assertEquals([asked, lease.item.group], [["1 a"], "b"]);
  queue.add({ id: 1, group: "c" });
  assertEquals(asked, ["1 a"]);
  lease[Symbol.dispose]();
  assertEquals([asked, queue.length], [["1 a", "1 c"], 1]);
});

Deno.test("fair: a key without the separator is its own group, and a key that is not a string is refused", () => {
  const queue = createWorkQueue<unknown>({ discipline: createFairDiscipline({ separator: "::" }) });
  for (const key of ["a::1", "a::2", "b", "::x", "a:3"]) queue.add(key);
  assertEquals(takeAll(queue), ["a::1", "b", "::x", "a:3", "a::2"]);
  const message = "Cannot find group of item: its key must be a string to have a 'separator', got 5";
  assertThrows(() => queue.add(5), TypeError, message);
  assertEquals(queue.length, 0);
  queue.add("c");
  assertEquals(takeAll(queue), ["c"]);
});

Deno.test("fair: with keyOf, the separator is looked for in the key", () => {
  const queue = createWorkQueue<{ key: string }>({
    discipline: createFairDiscipline({ separator: "/" }),
    keyOf: ({ key }) => key,
  });
  for (const key of ["a/1", "a/2", "b/1"]) queue.add({ key });
  assertEquals(takeAll(queue).map(({ key }) => key), ["a/1", "b/1", "a/2"]);
});

Deno.test("fair: groups may be any keys of a Map, and weights also match numbers", () => {
  const groups: unknown[] = [NaN, 7, undefined, Symbol.iterator];
  const queue = createWorkQueue<number>({
    discipline: createFairDiscipline({ groupOf: (i) => groups[i % 4], weights: { 7: 2 } }),
  });
  for (let i = 0; i < 12; i++) queue.add(i);
  assertEquals(takeAll(queue).map((i) => i % 4).join(""), "012310231023");
});

Deno.test("fair: if groupOf or within throws, the item is not added, and nothing else is lost", () => {
  let isFailing = false;
  const discipline = createFairDiscipline<string>({
    groupOf: (key) => {
      if (key === "bad") throw new Error("no group");
      return key[0];
    },
    within: () => {
      if (isFailing) throw new Error("no discipline");
      return new PlainLifo<string>();
    },
  });
  const queue = createWorkQueue<string>({ discipline });
  queue.add("a1");
  assertThrows(() => queue.add("bad"), Error, "no group");
  isFailing = true;
  assertThrows(() => queue.add("b1"), Error, "no discipline");
  queue.add("a2");
  assertEquals([queue.length, takeAll(queue)], [2, ["a2", "a1"]]);
});

Deno.test("fair: a `within` that doesn't return a discipline is refused when it is called", () => {
  const queue = createWorkQueue<string>({
    discipline: createFairDiscipline({ separator: "/", within: (() => ({})) as never }),
  });
  assertThrows(() => queue.add("a"), TypeError, "'within' created something that is not a queue discipline");
});

Deno.test("fair: an error of an inner discipline costs no group a turn", () => {
  class Failing extends PlainLifo<string> {
    override pop() {
      if (fails) throw new Error("not now");
      return super.pop();
    }
  }
  let fails = true;
  const { queue } = fairQueue({ within: () => new Failing() });
  for (const key of ["a/1", "b/1", "a/2"]) queue.add(key);
  for (let i = 0; i < 3; i++) assertThrows(() => queue.tryGet(), Error, "not now");
  fails = false;
  assertEquals(queue.length, 3);
  assertEquals(takeAll(queue).map((key) => key[0]).join("").length, 3);
});

Deno.test("fair: peeking shows the next items and changes nothing", () => {
  const { queue, discipline } = fairQueue({
    weights: { a: 2 },
    maxPerGroup: 40,
    within: () => createPriorityDiscipline(),
  });
  for (const group of ["a", "b", "c"]) addMany(queue, group, 30);
  queue.add("b/late", { priority: 9 });
  const seen = discipline.peek!(1000).map(({ key }) => key);
  assertEquals(seen.length, 91);
  assertEquals(discipline.peek!(10).map(({ key }) => key), seen.slice(0, 10));
  assertEquals(discipline.peek!(0), []);
  assertEquals(takeAll(queue), seen);
});

Deno.test("fair: the list of next items ends where the order inside a group is unknown", () => {
  const { queue, discipline } = fairQueue({ within: () => new PlainLifo() });
  addMany(queue, "a", 2);
  assertEquals(discipline.peek!(5), []);
});

Deno.test("fair: idle groups leave nothing in memory", () => {
  const within: WeakRef<object>[] = [];
  const discipline = createFairDiscipline<number>({
    groupOf: (i) => i < 0 ? "backlog" : i,
    maxPerGroup: 1,
    within: () => {
      const made = createPriorityDiscipline<number>();
      within.push(new WeakRef(made));
      return made;
    },
  });
  // A remembered group keeps its inner discipline, so a new inner discipline shows that the group was forgotten.
  const queue = createWorkQueue<number>({ discipline });
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < 100; i++) queue.add(i);
    takeAll(queue);
    assertEquals(within.length, 100 * round);
  }
  // If another group has a backlog, a group is forgotten one turn after its last item.
  for (let i = 1; i <= 100; i++) queue.add(-i);
  for (let i = 0; i < 10; i++) {
    queue.add(500 + i);
    for (let turn = 0; turn < 2; turn++) take(queue)[Symbol.dispose]();
  }
  queue.add(500);
  assertEquals(within.length, 300 + 1 + 10 + 1);
});

Deno.test("fair: once all groups are idle, the order is the same as in a new discipline, also for ties", () => {
  const options = { weights: { a: 3, b: 7, c: 0.3 } };
  const orderOf = (queue: ReturnType<typeof fairQueue>["queue"]) => {
    for (const group of ["a", "b", "c", "d"]) addMany(queue, group, 60);
    return turns(queue, 240);
  };
  const { queue } = fairQueue(options);
  const orders = Array.from({ length: 5 }, () => orderOf(queue));
  assertEquals(orders, Array(5).fill(orderOf(fairQueue(options).queue)));
});

Deno.test("fair: while new groups come and go beside a backlog, only the latest of them are remembered", () => {
  let made = 0;
  const within = () => {
    made++;
    return createPriorityDiscipline<number>();
  };
  for (const maxPerGroup of [undefined, 1]) {
    const queue = createWorkQueue<number>({
      discipline: createFairDiscipline({ groupOf: (i) => i, maxPerGroup, within }),
    });
    for (let i = 0; i < 10; i++) queue.add(i);
    const processing = take(queue);
    for (let i = 10; i < 20_000; i++) {
      queue.add(i);
      take(queue)[Symbol.dispose]();
    }
    made = 0;
    queue.add(11_000);
    assertEquals(made, 0);
    queue.add(5_000);
    assertEquals(made, 1);
    if (maxPerGroup === undefined) continue;
    queue.add(processing.item); // the item is ready again when its lease ends
    processing[Symbol.dispose]();
    assertEquals(made, 1, "a group with a processing item is not forgotten");
  }
});

Deno.test("fair: very many groups, one after the other beside a backlog, each get their turn at once", () => {
  const queue = createWorkQueue<number>({
    discipline: createFairDiscipline({ groupOf: (i) => i < 0 ? "backlog" : i }),
  });
  for (let i = 1; i <= 50_001; i++) queue.add(-i);
  for (let i = 0; i < 100_000; i++) {
    queue.add(i);
    queue.done(take(queue).item);
  }
  assertEquals(queue.length, 50_001);
});

Deno.test("fair: a config can give each group its own inner discipline", () => {
  const config: DisciplineConfig = {
    type: "fair",
    separator: "/",
    weights: { b: 2 },
    maxPerGroup: 3,
    within: { type: "priority", min: 0, max: 10, maxHeadStart: "unlimited" },
  };
  const discipline: QueueDiscipline<string> = disciplines.build(config);
  const queue = createWorkQueue<string>({ discipline });
  ["a/1", "a/2", "b/1", "b/2", "b/3"].forEach((key, priority) => queue.add(key, { priority }));
  assertEquals(takeAll(queue), ["a/2", "b/3", "b/2", "a/1", "b/1"]);
});

Deno.test("fair: invalid options are refused", () => {
  const groupOf = () => "a";
  const cases: [options: object, message: string][] = [
    [{}, "one of 'groupOf' and 'separator' must be given, and not both"],
    [{ groupOf, separator: "/" }, "one of 'groupOf' and 'separator' must be given, and not both"],
    [{ groupOf: "a" }, `'groupOf' must be a function, got "a"`],
    [{ groupOff: groupOf }, `"groupOff" is not an option here; did you mean "groupOf"?`],
    [{ separator: "" }, `'separator' must be a non-empty string, got ""`],
    [{ groupOf, weights: { a: 0 } }, "'weights.a' must be a number from 0.001 to 1000, got 0"],
    [{ groupOf, weights: { a: 1e-309 } }, "'weights.a' must be a number from 0.001 to 1000, got 1e-309"],
    [
      { groupOf, weights: [1] },
      "'weights' must be an object of numbers from 0.001 to 1000 by name, got an array",
    ],
    [{ groupOf, maxPerGroup: 0 }, "'maxPerGroup' must be a positive integer, got 0"],
    [{ groupOf, within: new PlainLifo() }, "'within' must be a function that makes a queue discipline, got an object"],
    [{ groupOf, withn: 5 }, `"withn" is not an option here; did you mean "within"?`],
  ];
  for (const [options, message] of cases) {
    const error = assertThrows(() => createFairDiscipline(options as FairOptions<string>), Error);
    assertEquals(error.message, `Cannot create fair discipline: ${message}`);
  }
  const config = { type: "fair", weights: { "a/b": -1 }, maxPerGroup: 0.5, within: { type: "priority", mn: 1 } };
  assertEquals(issuesOf(() => disciplines.build(config)).map(({ path }) => path), [
    "/separator",
    "/weights/a~1b",
    "/maxPerGroup",
    "/within/mn",
  ]);
  const [issue] = issuesOf(() => disciplines.build({ type: "fair", separator: "/", within: "priority" } as never));
  assertEquals(issue, {
    path: "/within",
    message: `'within' must be a discipline, an object such as { "type": "priority" }, got "priority"`,
  });
});

Deno.test("the default registry has the built-in disciplines", () => {
  assertEquals(disciplines.types(), builtInDisciplines.map(({ example }) => example.type));
  assertStrictEquals(disciplines.extend().get("fair"), disciplines.get("fair"));
});
