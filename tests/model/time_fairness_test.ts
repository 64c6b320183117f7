/** Rule 13: a fair discipline that shares the time of the workers, under random loads and virtual time. */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { createFairDiscipline, createWorkQueue, type Lease } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { randomNumbers, take } from "../queue_helpers.ts";

const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 100);

interface Load {
  readonly workers: number;
  readonly weights: Record<string, number>;
  /** Returns the duration of the next item of a group. */
  readonly durationOf: (group: string) => number;
  readonly longest: number;
  readonly by?: "items" | "time";
}

/**
 * Runs a load in which each group always has ready items. Returns the largest difference between the times that two
 * groups have got, each divided by the group's weight, and the times of all groups.
 */
function run({ workers, weights, durationOf, by = "time" }: Load, hands: number): { most: number; times: number[] } {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({
    clock,
    discipline: createFairDiscipline({ separator: "/", weights, by }),
  });
  const groups = Object.keys(weights);
  const ended = new Map(groups.map((group) => [group, 0]));
  const running: { lease: Lease<string>; group: string; began: number; ends: number }[] = [];
  let made = 0;
  const add = (group: string) => queue.add(`${group}/${made++}`);
  for (const group of groups) for (let i = 0; i <= workers; i++) add(group);
  const timeOf = (group: string) => {
    const current = running.filter((each) => each.group === group);
    return ended.get(group)! + current.reduce((sum, { began }) => sum + clock.time - began, 0);
  };
  let most = 0;
  const measure = () => {
    const shares = groups.map((group) => timeOf(group) / weights[group]!);
    most = Math.max(most, Math.max(...shares) - Math.min(...shares));
  };
  for (let i = 0; i < hands; i++) {
    while (running.length < workers) {
      const lease = take(queue);
      const group = lease.item.split("/")[0]!;
      add(group);
      running.push({ lease, group, began: clock.time, ends: clock.time + durationOf(group) });
      measure();
    }
    running.sort((a, b) => a.ends - b.ends);
    const { lease, group, began, ends } = running[0]!;
    clock.time = ends;
    measure();
    running.shift();
    ended.set(group, ended.get(group)! + ends - began);
    lease[Symbol.dispose]();
    measure();
  }
  return { most, times: groups.map(timeOf) };
}

Deno.test("rule 13: by time, unfairness is at most the workers times the longest handler", () => {
  let closest = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = randomNumbers(seed);
    const below = (count: number) => Math.floor(random() * count);
    const workers = 1 + below(12);
    const count = 2 + below(5);
    const isWeighted = random() < 0.5;
    const weights = Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`g${i}`, isWeighted ? [0.5, 1, 4][below(3)]! : 1]),
    );
    const longest = 10 + below(1000);
    const most = new Map(Object.keys(weights).map((group) => [group, 1 + below(longest)]));
    const isSteady = random() < 0.3;
    let handedOut = 0;
    const durationOf = (group: string) => {
      // The durations of a group change suddenly, so that the mean is wrong.
      if (++handedOut % 200 === 0) most.set(group, 1 + below(longest));
      return isSteady ? most.get(group)! : below(most.get(group)! + 1);
    };
    const { most: unfairness } = run({ workers, weights, durationOf, longest }, 1500);
    const bound = workers * longest * Math.max(...Object.values(weights).map((weight) => 1 / weight));
    assert(unfairness <= bound, `seed ${seed}: ${unfairness} of ${bound}`);
    closest = Math.max(closest, unfairness / bound);
  }
  assert(closest > 0.3, `the bound is not far from the truth: ${closest}`);
});

Deno.test("rule 13: by items, a group with slow items gets more time without bound; by time, it gets its share", () => {
  const load = {
    workers: 4,
    weights: { slow: 1, fast: 1 },
    longest: 100,
    durationOf: (group: string) => group === "slow" ? 100 : 10,
  };
  const byItems = run({ ...load, by: "items" }, 2000);
  assert(byItems.most > 10 * load.workers * load.longest);
  const { times: [slow, fast], most } = run(load, 2000);
  assert(most <= load.workers * load.longest);
  assert(Math.abs(slow! / fast! - 1) < 0.05, `${slow} and ${fast}`);
});

Deno.test("rule 13: by time, a new group with slow items doesn't take all workers", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  for (let i = 0; i < 100; i++) queue.add(`old/${i}`);
  for (let i = 0; i < 20; i++) { // the mean of the queue is 10 ms
    const lease = take(queue);
    clock.time += 10;
    lease[Symbol.dispose]();
  }
  for (let i = 0; i < 100; i++) queue.add(`new/${i}`);
  const groups = Array.from({ length: 10 }, () => take(queue).item.split("/")[0]);
  assertEquals(groups.filter((group) => group === "new").length, 5);
});

Deno.test("rule 13: by time, an item that was charged too much gives its group the next turns back", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  const work = (ms: number) => {
    using lease = take(queue);
    clock.time += ms;
    return lease.item;
  };
  for (let i = 0; i < 9; i++) queue.add(`a/${i}`);
  assertEquals(work(100), "a/0"); // the mean is 100 ms
  for (let i = 0; i < 9; i++) queue.add(`b/${i}`);
  assertEquals(work(10), "b/0"); // b was charged 100 ms, and took 10
  assertEquals([work(10), work(10), work(10)], ["b/1", "b/2", "b/3"]);
});

Deno.test("rule 13: by time, a group whose only item is always added again gets its share, and no more", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  const times = { one: 0, many: 0 };
  queue.add("one/0");
  for (let i = 0; i < 3000; i++) queue.add(`many/${i}`);
  for (let i = 0; i < 1000; i++) {
    const lease = take(queue);
    const group = lease.item.split("/")[0] as keyof typeof times;
    const ms = group === "one" ? 100 : 10;
    clock.time += ms;
    times[group] += ms;
    if (group === "one") queue.add(lease.item);
    lease[Symbol.dispose]();
  }
  assert(Math.abs(times.one / times.many - 1) < 0.05, JSON.stringify(times));
});

/** Returns a queue by time whose groups "slow" and "fast" have known means of 100 and 10 ms. */
function withKnownMeans() {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  for (let i = 0; i < 50; i++) for (const group of ["slow", "fast"]) queue.add(`${group}/${i}`);
  const end = (lease: Lease<string>) => {
    clock.time += lease.item.startsWith("slow") ? 100 : 10;
    lease[Symbol.dispose]();
    return lease.item.split("/")[0]!;
  };
  return { clock, queue, end };
}

Deno.test("rule 13: by time, each group is charged with its own mean when items are handed out", () => {
  const { queue, end } = withKnownMeans();
  for (let i = 0; i < 12; i++) end(take(queue)); // both means are known
  const begun = Array.from({ length: 22 }, () => take(queue).item.split("/")[0]);
  assertEquals(begun.filter((group) => group === "slow").length, 2);
});

Deno.test("rule 13: by time, a group that was charged too much keeps all of its credit, and a newcomer gets none of it", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  for (let i = 0; i < 20; i++) queue.add(`a/${i}`);
  const first = take(queue);
  clock.time += 100; // the mean is 100 ms
  first[Symbol.dispose]();
  for (let i = 0; i < 60; i++) queue.add(`b/${i}`);
  const leases = Array.from({ length: 4 }, () => take(queue));
  assertEquals(leases.map(({ item }) => item), ["b/0", "a/1", "b/1", "a/2"]);
  clock.time += 10;
  for (const lease of [leases[0]!, leases[2]!]) lease[Symbol.dispose](); // b was charged 200 ms, and took 20
  const turns = (count: number) => Array.from({ length: count }, () => take(queue).item[0]).join("");
  assertEquals(turns(1), "b");
  for (let i = 0; i < 20; i++) queue.add(`c/${i}`);
  assertEquals(turns(10), "b".repeat(10)); // the newcomer starts at virtual time, behind the credit of b
  const others = turns(30);
  assert(others.lastIndexOf("b") > others.indexOf("c"), others);
  assertEquals(others.split("a")[0]!.replaceAll("c", ""), "b".repeat(17)); // until b has caught up with a: 28 turns
});

/** Returns a queue by time whose groups have had ten items of 10 ms each, and functions to work on its items. */
function warmedUp(...groups: string[]) {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", by: "time" }) });
  const work = (ms: number, comesBack = false) => {
    using lease = take(queue);
    clock.time += ms;
    if (comesBack) queue.add(lease.item);
    return lease.item[0];
  };
  const addMany = (group: string, count: number) => {
    for (let i = 0; i < count; i++) queue.add(`${group}/${i}`);
  };
  for (const group of groups) addMany(group, 10);
  while (queue.length > 0) work(10);
  return { queue, work, addMany };
}

Deno.test("rule 13: by time, a group is charged in full for an item that took long, even if it was its only item", () => {
  const { queue, work, addMany } = warmedUp("a");
  addMany("a", 200);
  queue.add("b/0");
  let turns = 1;
  while (work(queue.snapshot({ limit: 1 }).readyItems[0]!.item === "b/0" ? 1000 : 10, true) !== "b") turns++;
  assert(turns < 5);
  assertEquals(Array.from({ length: 90 }, () => work(10)), Array(90).fill("a"));
});

Deno.test("rule 13: by time, groups are equal after the queue was idle, whatever they got before", () => {
  const { work, addMany } = warmedUp("a", "b");
  addMany("a", 1);
  assertEquals(work(1000), "a");
  addMany("b", 1);
  assertEquals(work(10), "b");
  addMany("b", 20);
  addMany("a", 20);
  const groups = Array.from({ length: 4 }, () => work(10));
  assert(groups.includes("a"), `${groups}`);
});
