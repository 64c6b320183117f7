/**
 * Tests of `keepGivenUp` of queues in memory. `tests/contracts/given_up_suite.ts` tests what all queues with given-up
 * items must do.
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createGivenUpStore,
  createRateLimitingQueue,
  loadConfig,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { KeptItems } from "../../lib/queue/kept_items.ts";
import { Console, HandClock } from "../helpers.ts";
import { flush, insideOf, sourceOf, takeAll, withoutNext } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter<string>({ baseDelay: 10, maxDelay: 10 });
const make = (options: RateLimitingQueueOptions<string> = {}) =>
  createRateLimitingQueue(limiter(), { keepGivenUp: createGivenUpStore({ max: 1000 }), ...options });

/** Gives items up. */
async function giveUp<T>(queue: RateLimitingQueue<T>, ...items: T[]): Promise<void> {
  const pool = runWorkers(queue, (item) => {
    throw new TerminalError(`no ${item}`);
  }, { onError() {} });
  for (const item of items) queue.add(item);
  while (queue.length + queue.processing > 0) await flush();
  await pool.stop();
}

const listed = async <T>(queue: RateLimitingQueue<T>) => (await queue.givenUp()).items.map(({ item }) => item);

Deno.test("a queue without keepGivenUp keeps no given-up items, and says so", async () => {
  const queue = createRateLimitingQueue(limiter());
  await giveUp(queue, "a");
  const rule = "the queue keeps none; set the option 'keepGivenUp'";
  await assertRejects(() => queue.givenUp(), Error, `Cannot list given-up items: ${rule}`);
  await assertRejects(() => queue.redrive(), Error, `Cannot redrive items: ${rule}`);
  await assertRejects(() => queue.discard(), Error, `Cannot discard items: ${rule}`);
  assertEquals([await queue.redriveProgress(), await queue.stopRedrive()], [undefined, undefined]);
});

Deno.test("a store must have a maximum, a positive integer, and may have a maximum age", () => {
  const wrong: [options: unknown, error: ErrorConstructor, message: string][] = [
    [{ max: 0 }, RangeError, "'max' must be a positive integer, got 0"],
    [{ max: 1.5 }, RangeError, "'max' must be a positive integer, got 1.5"],
    [{ max: NaN }, RangeError, "'max' must be a positive integer, got NaN"],
    [{ max: "5" }, TypeError, "'max' must be a positive integer, got \"5\""],
    [{}, TypeError, "the option 'max' is missing"],
    [{ maxAge: "1s" }, TypeError, "the option 'max' is missing"],
    [{ max: 1, maxAge: 0 }, RangeError, "'maxAge' must be a duration of at least 1 ms, got 0"],
    [{ max: 1, maxAge: "x" }, TypeError, "'maxAge' must be a duration of at least 1 ms, got \"x\""],
    [{ max: 1, age: 1 }, TypeError, '"age" is not an option here'],
    [null, TypeError, "null"],
    [5, TypeError, "5"],
  ];
  for (const [options, error, message] of wrong) {
    assertThrows(() => createGivenUpStore(options as never), error, message);
    const store = createGivenUpStore({ max: 7, maxAge: "1h" });
    assertThrows(() => store.update(options as never), error, message);
    assertEquals([store.max, store.maxAge], [7, "1h"]);
  }
  for (const wrong of [1000, { max: 1000 }, null, "5"]) {
    const rule = "'keepGivenUp' must be made by createGivenUpStore(), got";
    assertThrows(() => make({ keepGivenUp: wrong as never }), Error, rule);
  }
});

Deno.test("a store belongs to one queue, and its limits can be changed", async () => {
  const keepGivenUp = createGivenUpStore({ max: 3 });
  const queue = make({ keepGivenUp });
  assertThrows(() => make({ keepGivenUp }), Error, "Cannot create rate limiting queue: another queue has this store");
  await giveUp(queue, "a", "b", "c");
  keepGivenUp.update({ max: 2, maxAge: "1h" });
  assertEquals([keepGivenUp.max, keepGivenUp.maxAge], [2, "1h"]);
  assertEquals([await listed(queue), (await queue.givenUp()).dropped], [["c", "b"], 1]);
});

Deno.test("rule 11: an item that the discipline refuses is still kept, and the others are added", async () => {
  using console = new Console();
  let refused = "";
  const discipline = createFairDiscipline<string>({
    groupOf(item) {
      if (item === refused) throw new Error("no group");
      return item;
    },
  });
  const queue = make({ discipline });
  await giveUp(queue, "a", "b", "c");
  refused = "b";
  assertEquals(await queue.redrive(), { redriven: 2, left: 0, running: false });
  assertEquals([await listed(queue), takeAll(queue)], [["b"], ["a", "c"]]);
  assertEquals(console.calls.flat(), ['Given-up item "b" can\'t be added again: Error: no group']);
  assertThrows(() => queue.add("b"), Error, "no group");
  assertEquals(await listed(queue), ["b"]);
});

Deno.test("items that a shutdown gives up are kept, and stay listed after it", async () => {
  const queue = make();
  let fail = () => {};
  const pool = runWorkers(queue, () => new Promise<void>((_, reject) => fail = () => reject(new Error("503"))), {
    onError() {},
  });
  queue.add("a");
  await flush();
  queue.shutDown();
  fail();
  await pool.finished;
  const { items } = await queue.givenUp();
  assertEquals(items.map(({ item, reason, attempts }) => [item, reason, attempts]), [["a", "shutdown", 1]]);
  queue.add("a"); // ignored
  assertEquals(await listed(queue), ["a"]);
  await assertRejects(() => queue.redrive(), Error, "Cannot redrive items: the queue is shutting down");
});

for (const end of ["shutDown", "shutDownWithDrain"] as const) {
  Deno.test(`rule 6: ${end} ends a redrive, and the remaining items are kept`, async () => {
    const clock = new HandClock();
    const queue = make({ clock });
    await giveUp(queue, "a", "b", "c");
    await queue.redrive({ rate: 1 });
    assertEquals(clock.timers, 1);
    const ended = queue[end]();
    assertEquals([clock.timers, takeAll(queue), await listed(queue)], [0, ["a"], ["c", "b"]]);
    assertEquals(await queue.redriveProgress(), { redriven: 1, left: 2, running: false });
    queue.done("a");
    await ended;
  });
}

Deno.test("rule 6: a drain whose options are refused does not end a redrive", async () => {
  const clock = new HandClock();
  const queue = make({ clock });
  await giveUp(queue, "a", "b");
  await queue.redrive({ rate: 1 });
  await assertRejects(() => queue.shutDownWithDrain({ delayed: "x" as never }), TypeError);
  assertEquals((await queue.redriveProgress())!.running, true);
  queue.shutDown();
  assertEquals([await queue.redriveProgress(), clock.timers], [{ redriven: 1, left: 1, running: false }, 0]);
});

Deno.test("a redrive of many items lets timers fire, and completes", async () => {
  const queue = make({ keepGivenUp: createGivenUpStore({ max: 50_000 }) });
  await giveUp(queue, ...Array.from({ length: 50_000 }, (_, i) => `${i}`));
  const { redriven, running } = await queue.redrive();
  let turns = 0;
  for (; (await queue.redriveProgress())!.running; turns++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals((await queue.redriveProgress())!.redriven, 50_000);
  assert(running && redriven > 0 && redriven < 50_000 && turns > 0, `${redriven} at once`);
  assertEquals([takeAll(queue).length, (await queue.givenUp()).total], [50_000, 0]);
});

Deno.test("a call checks at most 10,000 items, and its cursor continues after them", async () => {
  const queue = make({ keepGivenUp: createGivenUpStore({ max: 100_000 }) });
  await giveUp(queue, "needle", ...Array.from({ length: 25_000 }, (_, i) => `${i}`));
  const found: string[][] = [];
  let cursor: string | undefined;
  do {
    const page: Awaited<ReturnType<typeof queue.givenUp>> = await queue.givenUp({ search: "needle", cursor });
    found.push(page.items.map(({ item }) => item));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assertEquals(found, [[], [], ["needle"]]);
});

Deno.test("keys that are objects are searched by their JSON, and are found as keys", async () => {
  const keyOf = ({ id }: { id: unknown }) => id;
  const queue = createRateLimitingQueue(createExponentialLimiter<{ id: unknown }>({ baseDelay: 1, maxDelay: 1 }), {
    keyOf,
    keepGivenUp: createGivenUpStore({ max: 10 }),
  });
  const key = { shop: "Acme" };
  const itself: { itself?: unknown } = {};
  itself.itself = itself;
  await giveUp(queue, { id: 7n }, { id: key }, { id: 12 }, { id: undefined }, { id: itself });
  const found = async (search: string) => (await queue.givenUp({ search })).items.map(({ key }) => key);
  assertEquals([await found('"shop":"acme"'), await found("12"), await found("7")], [[key], [12], [7n]]);
  assertEquals(await found("undefined"), [undefined]);
  assertEquals(await queue.discard({ keys: [key] }), 1);
});

Deno.test("an add during which its item is given up again keeps the new error", async () => {
  const queue = make();
  await giveUp(queue, "a");
  const source = sourceOf(queue);
  const stop = insideOf(queue).watch(() => {
    const lease = source.tryTake();
    if (lease === undefined) return;
    const ending = { kind: "givenUp", error: new Error("second"), reason: "terminal" } as const;
    source.finish({ lease, key: "a", number: 1 }, ending, () => {});
    lease[Symbol.dispose]();
  });
  queue.add("a");
  stop();
  assertEquals((await queue.givenUp()).items.map(({ error }) => error), ["Error: second"]);
});

Deno.test("a redrive forgets failures that a limiter without 'next' has counted since", async () => {
  const shared = withoutNext(limiter());
  const queue = createRateLimitingQueue(shared, { keepGivenUp: createGivenUpStore({ max: 5 }) });
  await giveUp(queue, "a");
  shared.when("a");
  assertEquals(queue.numRequeues("a"), 1);
  await queue.redrive();
  assertEquals([queue.numRequeues("a"), takeAll(queue)], [0, ["a"]]);
});

Deno.test("a redrive whose timer is late catches up by 100 ms at most, and a slow one sleeps in parts", async () => {
  const clock = new HandClock();
  const queue = make({ clock });
  await giveUp(queue, ...Array.from({ length: 20 }, (_, i) => `${i}`));
  await queue.redrive({ rate: 10 });
  clock.time += 1000; // the machine was suspended
  clock.fireNext();
  assertEquals((await queue.stopRedrive())!.redriven, 3);
  await queue.redrive({ rate: 1e-9 });
  await clock.advance(60_000);
  assertEquals([(await queue.stopRedrive())!.redriven, Math.max(...clock.delays)], [1, 10_000]);
});

Deno.test("a document sets how many items are kept, and a reload changes it at once", async () => {
  const clock = new HandClock();
  const document = (keepGivenUp?: unknown) => ({ queues: { q: keepGivenUp === undefined ? {} : { keepGivenUp } } });
  const config = loadConfig(document(4));
  const queue = config.queue<string>("q", { clock });
  await giveUp(queue, "a", "b", "c", "d", "e");
  assertEquals([await listed(queue), (await queue.givenUp()).dropped], [["e", "d", "c", "b"], 1]);

  const path = "/queues/q/keepGivenUp";
  assertEquals(config.reload(document({ max: 2, maxAge: "1s" }), { dryRun: true }).length, 1);
  assertEquals((await queue.givenUp()).total, 4);
  assertEquals(config.reload(document({ max: 2, maxAge: "1s" })), [
    { path, old: 4, new: { max: 2, maxAge: 1000 }, inForce: "now" },
  ]);
  assertEquals([await listed(queue), (await queue.givenUp()).dropped], [["e", "d"], 3]);
  await clock.advance(1000);
  assertEquals(await listed(queue), ["e", "d"]);
  await clock.advance(1);
  assertEquals([await listed(queue), (await queue.givenUp()).dropped], [[], 5]);

  assertEquals(config.reload(document()).map(({ inForce }) => inForce), ["nextStart"]);
  await giveUp(queue, "f");
  assertEquals(await listed(queue), ["f"]);
  const later = config.queue<string>("q");
  await assertRejects(() => later.givenUp(), Error, "keeps none");
  const own = config.queue<string>("q", { keepGivenUp: createGivenUpStore({ max: 1 }) });
  await giveUp(own, "a", "b");
  assertEquals(await listed(own), ["b"]);
});

Deno.test("a queue that keeps items hands out, de-duplicates and drains as without the option", async () => {
  const clock = new HandClock();
  const queue = make({ clock, keyOf: (item) => item.toUpperCase() });
  await giveUp(queue, "x");
  queue.add("a");
  queue.add("A");
  queue.addAfter("X", 100, { priority: 3 });
  queue.addRateLimited("b", { minDelay: 50 });
  assertEquals([queue.length, queue.delayed, await listed(queue)], [1, 2, []]);
  await clock.advance(100);
  assertEquals(takeAll(queue), ["A", "b", "X"]);
  queue.shutDown();
  assertEquals(clock.timers, 0);
});

Deno.test("kept items: any order of calls has the same result as with a plain list", () => {
  let seed = 1;
  const below = (n: number) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const kept = new KeptItems<string>();
    let list: { key: string; givenUpAt: number }[] = [];
    for (let step = 0; step < 300; step++) {
      const key = `${below(80)}`;
      switch (below(5)) {
        case 0:
        case 1: {
          const given = { key, givenUpAt: step };
          kept.add({ item: key, error: "", attempts: 1, reason: "terminal", group: 0, firstFailedAt: 0, ...given });
          list = [...list.filter((one) => one.key !== key), given];
          break;
        }
        case 2: {
          const entry = kept.get(key);
          assertEquals(entry?.givenUpAt, list.find((one) => one.key === key)?.givenUpAt);
          if (entry !== undefined) kept.remove(entry);
          list = list.filter((one) => one.key !== key);
          break;
        }
        case 3: {
          const [max, time] = [40 + below(40), step - 100 - below(200)];
          const before = list.length;
          while (list.length > max || (list[0]?.givenUpAt ?? Infinity) < time) list.shift();
          assertEquals(kept.drop(max, time), before - list.length);
          break;
        }
        case 4: {
          const scan = kept.scan({});
          assertEquals(scan.countLeft(), list.length);
          const removed = list.filter(() => below(2) === 0);
          const scanned: unknown[] = [];
          for (let entry = scan.next(); entry !== false; entry = scan.next()) {
            if (entry === undefined) continue;
            scanned.push(entry.key);
            if (removed.some(({ key }) => key === entry.key)) kept.remove(entry);
          }
          assertEquals([scanned, scan.countLeft()], [list.map(({ key }) => key), 0]);
          list = list.filter((one) => !removed.includes(one));
        }
      }
      assertEquals(kept.size, list.length);
    }
    assertEquals(Array.from(kept.newestFirst(), ({ key }) => key), list.map(({ key }) => key).reverse());
  }
});
