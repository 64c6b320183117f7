/** Rule 13: the rate of each group of the fair discipline. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  createFairDiscipline,
  createPriorityDiscipline,
  createWorkQueue,
  disciplines,
  type FairOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { outcome, take, takeAll } from "../queue_helpers.ts";

function setUp(options: Omit<FairOptions<string>, "groupOf" | "separator">, time = 0) {
  const clock = new HandClock(time);
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline({ separator: "/", ...options }) });
  const counts = () => [queue.length, queue.snapshot().blocked];
  return { clock, queue, counts };
}

Deno.test("rule 13: each group has a rate and a burst, and other groups continue", () => {
  const { clock, queue, counts } = setUp({ ratePerGroup: { rate: 2, burst: 3 } });
  for (let i = 0; i < 10; i++) queue.add(`a/${i}`);
  queue.add("b/0");
  assertEquals(counts(), [4, 7]);
  assertEquals(takeAll(queue), ["a/0", "b/0", "a/1", "a/2"]);
  clock.time = 499;
  assertEquals(counts(), [0, 7]);
  clock.time = 500;
  assertEquals([counts(), takeAll(queue)], [[1, 6], ["a/3"]]);
  clock.time = 10_000;
  assertEquals([counts(), takeAll(queue)], [[3, 3], ["a/4", "a/5", "a/6"]]);
});

Deno.test("rule 13: get is served at the moment of each token, with one timer for all groups", async () => {
  for (const time of [0, 1_700_000_000_000]) {
    for (const [rate, moments] of [[10, [100, 200, 300]], [3, [334, 668, 1002]], [0.5, [2000, 4000, 6000]]] as const) {
      const { clock, queue } = setUp({ ratePerGroup: { rate, burst: 1 } }, time);
      for (let i = 0; i < 4; i++) queue.add(`a/${i}`);
      takeAll(queue);
      for (const moment of moments) {
        const got = outcome(queue.get());
        assertEquals(clock.timers, 1);
        clock.fireNext();
        assertEquals(clock.time - time, moment);
        queue.done(await got as string);
      }
      assertEquals([clock.timers, clock.delays.length], [0, 3]);
    }
  }
});

Deno.test("rule 13: rounding delays no token, with or without a timer", () => {
  const { clock, queue, counts } = setUp({ ratePerGroup: { rate: 3, burst: 10 } });
  for (let i = 0; i < 20; i++) queue.add(`a/${i}`);
  assertEquals(takeAll(queue).length, 10);
  clock.time = 1000;
  assertEquals(counts(), [3, 7]);

  const other = setUp({ ratePerGroup: { rate: 3, burst: 10 } });
  for (let i = 0; i < 20; i++) other.queue.add(`a/${i}`);
  takeAll(other.queue);
  other.clock.time = 999;
  assertEquals(takeAll(other.queue).length, 2);
  other.queue.get();
  assertEquals(other.clock.delays, [1]);
});

Deno.test("rule 13: a group with its whole burst reports no time", () => {
  const discipline = createFairDiscipline<string>({ separator: "/", ratePerGroup: { rate: 1, burst: 2 } });
  for (let i = 0; i < 5; i++) discipline.push({ key: `a/${i}`, item: `a/${i}`, priority: 0, readyAt: 0 });
  assertEquals([discipline.length, discipline.blocked, discipline.nextChangeAt], [2, 3, Infinity]);
});

Deno.test("rule 13: retries, items added again and items handed back take tokens too", () => {
  const { clock, queue, counts } = setUp({ ratePerGroup: { rate: 1, burst: 1 } });
  queue.add("a/0");
  const lease = take(queue);
  queue.add("a/0");
  lease[Symbol.dispose]();
  assertEquals(counts(), [0, 1]);
  clock.time = 1000;
  assertEquals(counts(), [1, 0]);
});

Deno.test("rule 13: a rate applies beside maxPerGroup, pauses and an inner discipline", () => {
  const { clock, queue, counts } = setUp({
    ratePerGroup: { rate: 10, burst: 2 },
    maxPerGroup: 1,
    within: () => createPriorityDiscipline(),
  });
  for (let i = 0; i < 5; i++) queue.add(`a/${i}`, { priority: i });
  const first = take(queue);
  assertEquals([first.item, counts()], ["a/4", [0, 4]]);
  first[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a/3"]);
  assertEquals(counts(), [0, 3]);
  queue.pauseGroup("a", 1000);
  clock.time = 999;
  assertEquals(counts(), [0, 3]);
  clock.time = 1000;
  assertEquals([counts(), takeAll(queue)], [[1, 2], ["a/2", "a/1"]]);
});

Deno.test("rule 13: a group's rate is forgotten only when its burst is full; then the idle group is forgotten", () => {
  const made: number[] = [];
  const within = () => {
    made.push(made.length);
    return createPriorityDiscipline();
  };
  const { clock, queue, counts } = setUp({ ratePerGroup: { rate: 1, burst: 2 }, within });
  queue.add("a/0");
  queue.add("a/1");
  takeAll(queue);
  for (let i = 0; i < 20_000; i++) {
    queue.add(`other${i}/x`);
    if (i % 100 === 0) takeAll(queue);
  }
  takeAll(queue);
  clock.time = 999;
  queue.add("a/2");
  assertEquals([counts(), made.length], [[0, 1], 20_001]);
  clock.time = 5000;
  takeAll(queue);
  clock.time = 10_000;
  queue.add("a/3");
  queue.add("a/4");
  assertEquals([counts(), made.length], [[2, 0], 20_002]); // forgotten, and made again
});

Deno.test("rule 13: a rate in a document is checked, and refused with a reason", () => {
  const clock = new HandClock();
  const config = { type: "fair", separator: "/", ratePerGroup: { rate: 1, burst: 2 } } as const;
  const queue = createWorkQueue<string>({ clock, discipline: disciplines.build(config) });
  for (let i = 0; i < 5; i++) queue.add(`a/${i}`);
  assertEquals(queue.length, 2);
  const { definition: _, create: _create, ...described } = disciplines.describe(config);
  assertEquals(described.options, { separator: "/", ratePerGroup: { rate: 1, burst: 2 } });

  const message = "Cannot create fair discipline: 'ratePerGroup";
  assertThrows(
    () => setUp({ ratePerGroup: { rate: 0, burst: 1 } }),
    RangeError,
    `${message}.rate' must be a number from 0.000001 to 1000000, got 0`,
  );
  assertThrows(
    () => setUp({ ratePerGroup: { rate: 1, burst: 0 } }),
    RangeError,
    `${message}.burst' must be an integer from 1 to 1000000, got 0`,
  );
  assertThrows(
    () => setUp({ ratePerGroup: 5 as never }),
    RangeError,
    `${message}' must be an object with 'rate' and 'burst', got 5`,
  );
  assertThrows(
    () => setUp({ by: "size" as never }),
    TypeError,
    `Cannot create fair discipline: 'by' must be one of "items", "time", got "size"`,
  );
});
