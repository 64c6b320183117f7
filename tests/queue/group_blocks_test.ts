/** Hooks that tell a dashboard which groups of a queue are paused or blocked, and until when. */

import { assertEquals } from "@std/assert";
import {
  createDefaultItemLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type WorkQueue,
} from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { HandClock } from "../helpers.ts";
import { heldLineOf } from "../../lib/queue/held_line.ts";
import { insideOf, take } from "../queue_helpers.ts";

type FairOptions = Parameters<typeof createFairDiscipline<string>>[0];

/** Creates a queue with groups, and a function that returns the blocks of all groups that have one. */
function setUp(options: Partial<FairOptions> = {}) {
  const clock = new HandClock(5000);
  const discipline = createFairDiscipline<string>({ separator: "/", ...options } as FairOptions);
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { clock, discipline });
  return { clock, queue, blocks: () => blocksOf(queue) };
}

function blocksOf(queue: WorkQueue<string>) {
  const groups = inspectionOf(queue)!.groups!;
  return [...groups.groupNames!()].flatMap((name) => {
    const block = groups.blockOf!(name);
    return block === undefined ? [] : [[name, block.reason, block.blocked, block.resumesInMs]];
  });
}

Deno.test("group blocks: a paused group is listed with or without items, until its pause ends or is ended", () => {
  const { clock, queue, blocks } = setUp();
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  queue.pauseGroup("a", "30s");
  queue.pauseGroup("c", "10s");
  assertEquals(blocks(), [["a", "paused", 2, 30_000], ["c", "paused", 0, 10_000]]);
  clock.time += 10_000;
  assertEquals(blocks(), [["a", "paused", 2, 20_000]]);
  queue.resumeGroup("a");
  assertEquals(blocks(), []);
});

Deno.test("group blocks: after a pause, the items behind the probe wait for it, however long it takes", () => {
  const { clock, queue, blocks } = setUp();
  for (const item of ["a/1", "a/2", "a/3"]) queue.add(item);
  queue.pauseGroup("a", "30s");
  clock.time += 30_000;
  assertEquals(blocks(), [["a", "probing", 2, null]]);
  const probe = take(queue);
  assertEquals(blocks(), [["a", "probing", 2, null]]);
  clock.time += 3_600_000;
  assertEquals(blocks(), [["a", "probing", 2, null]]);
  queue.done(probe.item);
  assertEquals(blocks(), []);
});

Deno.test("group blocks: the entry of a group that has used its rate says when its next item may start", () => {
  const { clock, queue, blocks } = setUp({ ratePerGroup: { rate: 0.5, burst: 1 } });
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  queue.done(take(queue).item);
  assertEquals(blocks(), [["a", "rate", 1, 2000]]);
  clock.time += 500;
  assertEquals(blocks(), [["a", "rate", 1, 1500]]);
  clock.time += 1500;
  assertEquals(blocks(), []);
});

Deno.test("group blocks: a group at its limit of processing items waits for one of them", () => {
  const { queue, blocks } = setUp({ maxPerGroup: 1 });
  for (const item of ["a/1", "a/2", "a/3"]) queue.add(item);
  const lease = take(queue);
  assertEquals(blocks(), [["a", "limit", 2, null]]);
  queue.done(lease.item);
  assertEquals(blocks(), [["a", "limit", 1, null]], "one of the two is ready");
});

Deno.test("group blocks: a discipline inside the groups may block items as well", () => {
  const within = () => createFairDiscipline<string>({ groupOf: (item) => item.at(-1), maxPerGroup: 1 });
  const { queue, blocks } = setUp({ within });
  for (const item of ["a/1x", "a/2x"]) queue.add(item);
  take(queue);
  assertEquals(blocks(), [["a", "inner", 1, null]]);
});

Deno.test("group blocks: names are read one by one while groups come and go", () => {
  const { queue } = setUp();
  for (let i = 0; i < 100; i++) queue.pauseGroup(`g${i}`, "1h");
  const groups = inspectionOf(queue)!.groups!;
  const names = groups.groupNames!()[Symbol.iterator]();
  assertEquals(names.next().value, "g0");
  queue.pauseGroup("late", "1h");
  queue.resumeGroup("g1");
  const rest = [...{ [Symbol.iterator]: () => names }];
  assertEquals([rest.at(-1), groups.blockOf!("g1"), groups.blockOf!("none")], ["late", undefined, undefined]);
});

Deno.test("group blocks: a queue without groups lists none, and reports how long it is paused", () => {
  const clock = new HandClock(-70_000);
  const queue = createWorkQueue<string>({ clock });
  const limited = createRateLimitingQueue<string>(createDefaultItemLimiter(), { clock });
  const inspection = inspectionOf(limited)!;
  assertEquals(inspectionOf(queue)!.groups, undefined);
  assertEquals(inspection.resumesInMs, 0);
  heldLineOf(insideOf(limited)).pauseFor(30_000);
  clock.time += 10_000;
  assertEquals(inspection.resumesInMs, 20_000);
  clock.time += 30_000;
  assertEquals(inspection.resumesInMs, 0);
});
