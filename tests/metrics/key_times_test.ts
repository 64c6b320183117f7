/** Times of keys in the records of a queue, against a model, and the looks at the clock that they take. */

import { assert, assertEquals } from "@std/assert";
import {
  type Clock,
  createFairDiscipline,
  createPriorityDiscipline,
  createWorkQueue,
  systemClock,
  type WorkQueue,
} from "@workqueue/core";
import { inspectionOf } from "@workqueue/core/hooks";
import { type KeyTimes, listen } from "../../lib/metrics/key_times.ts";
import { burst, nextTask } from "../../lib/structures/burst.ts";
import { HandClock } from "../helpers.ts";
import { insideOf, Lifo, randomNumbers, take } from "../queue_helpers.ts";

const SILENT = { added() {}, addedAgain() {}, unmarked() {}, ready() {}, taken() {}, finished() {} };

/** Listens to a queue. Returns the times of its keys, and the times at which keys were handed out and done. */
function listenTo(queue: WorkQueue<string>) {
  const heard: { taken: number[]; finished: number[] } = { taken: [], finished: [] };
  let times!: KeyTimes;
  const stop = listen(insideOf(queue), (given) => {
    times = given;
    return {
      ...SILENT,
      taken: (_key: unknown, now: number) => void heard.taken.push(now),
      finished: (_key: unknown, now: number) => void heard.finished.push(now),
    };
  });
  return { times, heard, stop };
}

/** Waits until the clock shows a later time. */
function waitForLater(clock: Clock): number {
  const before = clock.now();
  for (;;) {
    const now = clock.now();
    if (now > before) return now;
  }
}

Deno.test("key times: the oldest key and the hand-outs match a model under random calls", () => {
  for (const discipline of [undefined, new Lifo<string>(), createPriorityDiscipline<string>()]) {
    const random = randomNumbers(7);
    const clock = new HandClock();
    const queue = createWorkQueue<string>({ clock, discipline });
    const { times } = listenTo(queue);
    const ready = new Map<string, number>();
    const processing = new Map<string, { readonly at: number; isAddedAgain: boolean }>();
    const oldest = (dates: Iterable<number>) =>
      Array.from(dates).reduce((one, other) => Math.min(one, other), Infinity);
    for (let step = 0; step < 5000; step++) {
      clock.time += Math.floor(random() * 3);
      const key = `${Math.floor(random() * 600)}`;
      const running = processing.get(key);
      if (random() < (Math.floor(step / 1000) % 2 === 0 ? 0.6 : 0.3)) {
        queue.add(key, { priority: Math.floor(random() * 3) });
        if (running !== undefined) running.isAddedAgain = true;
        else if (!ready.has(key)) ready.set(key, clock.time);
      } else if (running === undefined) {
        const lease = queue.tryGet();
        if (lease !== undefined) processing.set(lease.item, { at: clock.time, isAddedAgain: false });
        if (lease !== undefined) ready.delete(lease.item);
      } else {
        queue.done(key);
        processing.delete(key);
        if (running.isAddedAgain) ready.set(key, clock.time);
      }
      assertEquals(times.oldestReadyAt ?? Infinity, oldest(ready.values()));
      const begun = Array.from(processing.values(), ({ at }) => at);
      assertEquals(times.firstHandOutAt ?? Infinity, oldest(begun));
      assertEquals(times.sumOfHandOuts((at) => at + 1), begun.reduce((sum, at) => sum + at + 1, 0));
    }
  }
});

Deno.test("key times: a listener that starts again knows no times of an earlier listener", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock });
  const first = listenTo(queue);
  queue.add("a");
  queue.add("b");
  take(queue);
  first.stop();
  clock.time = 1000;
  queue.add("c");
  const { times, heard } = listenTo(queue);
  assertEquals([times.oldestReadyAt, times.firstHandOutAt], [1000, undefined]);
  clock.time = 2000;
  queue.done("a");
  take(queue);
  take(queue);
  assertEquals([times.oldestReadyAt, times.firstHandOutAt, heard.taken], [undefined, 2000, [2000, 2000]]);
});

Deno.test("key times: listeners receive keys with the numbers of their hand-outs until they end", () => {
  const clock = new HandClock();
  const queue = createWorkQueue<string>({ clock, discipline: createFairDiscipline<string>({ separator: "/" }) });
  const heard: unknown[][] = [];
  const stop = inspectionOf<string>(queue)!.listen({
    added: (...told) => heard.push(["added", ...told]),
    addedAgain: (...told) => heard.push(["added again", ...told]),
    unmarked: (...told) => heard.push(["unmarked", ...told]),
    ready: (...told) => heard.push(["ready", ...told]),
    taken: (...told) => heard.push(["taken", ...told]),
    finished: (...told) => heard.push(["finished", ...told]),
    stop: () => heard.push(["stop"]),
    end: () => heard.push(["end"]),
  });
  queue.add("a", { priority: 2 });
  clock.time = 1;
  const lease = take(queue);
  clock.time = 2;
  queue.add("a", { priority: 3 });
  clock.time = 3;
  lease[Symbol.dispose]();
  clock.time = 4;
  queue.shutDown();
  queue.done(take(queue).item);
  stop();
  assertEquals(heard, [
    ["added", "a", 2, 0],
    ["taken", "a", 1, 0, 0],
    ["added again", "a", 3, 2],
    ["ready", "a", 3],
    ["finished", "a", 3, 1, 1],
    ["stop"],
    ["taken", "a", 4, 3, 2],
    ["finished", "a", 4, 4, 2],
    ["end"],
  ]);
});

Deno.test("rule 11: key times: a clock that throws loses the times of one key only", () => {
  const clock = new HandClock();
  const { now } = clock;
  const queue = createWorkQueue<string>({ clock });
  const { times } = listenTo(queue);
  for (const key of ["a", "b", "c"]) {
    queue.add(key);
    clock.time++;
  }
  clock.now = () => {
    throw new Error("no time");
  };
  const lease = take(queue);
  clock.now = now;
  assertEquals([lease.item, times.oldestReadyAt, times.firstHandOutAt], ["a", 1, undefined]);
  lease[Symbol.dispose]();
  assertEquals([times.oldestReadyAt, times.firstHandOutAt], [1, undefined]);
  queue.add("a");
  take(queue);
  assertEquals([times.oldestReadyAt, times.firstHandOutAt], [2, 3]);
  take(queue);
  clock.time++;
  take(queue);
  assertEquals([times.oldestReadyAt, times.firstHandOutAt, times.sumOfHandOuts((at) => at)], [undefined, 3, 3 + 3 + 4]);
});

Deno.test("key times: within a burst, only the hand-out after an end uses the same reading of the clock", async () => {
  const queue = createWorkQueue<string>();
  const { heard } = listenTo(queue);
  const endAndTakeTwice = () => {
    heard.taken.length = heard.finished.length = 0;
    for (const key of ["a", "b", "c"]) queue.add(key);
    const first = take(queue);
    waitForLater(systemClock);
    first[Symbol.dispose]();
    waitForLater(systemClock);
    const second = take(queue);
    waitForLater(systemClock);
    const third = take(queue);
    for (const lease of [second, third]) lease[Symbol.dispose]();
    const [taken = NaN, shared = NaN, later = NaN] = heard.taken;
    const ended = heard.finished[0]!;
    assert(taken < ended && ended < later, "an attempt has a length, and the next look is later");
    return shared === ended;
  };
  assertEquals(endAndTakeTwice(), false, "outside of a burst");
  burst.isTooLong();
  assertEquals([burst.number > 0, endAndTakeTwice()], [true, true]);
  for (const key of ["d", "e"]) queue.add(key);
  burst.isTooLong();
  take(queue)[Symbol.dispose]();
  await new Promise<void>(nextTask);
  waitForLater(systemClock);
  take(queue)[Symbol.dispose]();
  const [ended, next] = [heard.finished.at(-2)!, heard.taken.at(-1)!];
  assert(ended < next, "in another burst");
});
