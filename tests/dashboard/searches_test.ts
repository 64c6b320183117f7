/**
 * Tests of searches through all delayed items. Searches use only a small share of the time, no matter how many are
 * requested.
 */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
import { Searches } from "../../packages/dashboard/watch/searches.ts";
import { containing } from "../../packages/dashboard/watch/selection.ts";
import type { DelayedLook } from "../../packages/dashboard/watch/source.ts";
import { flush, flushPromises, insideOf } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Returns searches that take `takes` milliseconds each. */
function searchesOf({ time, takes, items = 10 }: { time: FakeTime; takes: number; items?: number }) {
  const all = Array.from({ length: items }, (_, i) => ({ item: `a-${i}`, priority: 0, dueInMs: 1000 + i }));
  const began = Date.now();
  const at: number[] = [];
  const searches = searchesIn(() => {
    at.push(Date.now() - began);
    time.tick(takes);
    return all;
  });
  return { searches, at };
}

/** Returns searches for texts in the given items. */
function searchesIn(
  delayed: () => DelayedLook[] | Promise<DelayedLook[]>,
  textOf: (item: unknown) => string = String,
): Searches {
  const of = (items: DelayedLook[]) => ({ items, more: 0 });
  return new Searches({
    delayed() {
      const items = delayed();
      return items instanceof Promise ? items.then(of) : of(items);
    },
    failing: () => [],
    textOf,
    matcher: (search) => (item) => containing(search)(textOf(item)),
  });
}

/** Returns the result of a promise, while no time passes except between slices. */
async function settle<Result>(time: FakeTime, promise: Promise<Result>, onTurn = () => {}): Promise<Result> {
  let isSettled = false;
  promise.finally(() => isSettled = true);
  for (;;) {
    await flushPromises();
    if (isSettled) return await promise;
    onTurn();
    time.tick(0);
  }
}

/**
 * Requests a search for each text once per second, as open pages do. Returns the time of each search's first result, in
 * seconds.
 */
async function ask(time: FakeTime, searches: Searches, texts: readonly string[], seconds: number): Promise<number[]> {
  const known = texts.map(() => -1);
  for (let second = 0; second < seconds; second++) {
    const end = Date.now() + 1000;
    for (const [i, text] of texts.entries()) {
      if (await searches.find(text) !== undefined && known[i] === -1) known[i] = second;
    }
    time.tick(Math.max(end - Date.now(), 0));
  }
  return known;
}

Deno.test("searches: a cheap search gives its result at once to everyone", async () => {
  using time = new FakeTime();
  const { searches, at } = searchesOf({ time, takes: 0 });
  const texts = Array.from({ length: 150 }, (_, i) => `${i}`);
  assertEquals(new Set(await ask(time, searches, texts, 1)), new Set([0]));
  assertEquals(at.length, 150);
  assertEquals((await searches.find("a-1"))!.matching, 1);
});

Deno.test("searches: after a search, none begins for nineteen times as long as it took, whatever is requested", async () => {
  using time = new FakeTime();
  const { searches, at } = searchesOf({ time, takes: 50 });
  assertEquals((await searches.find("a"))!.matching, 10);
  for (let i = 0; i < 950; i++) {
    assertEquals(await searches.find(`a-${i}`), undefined);
    time.tick(1);
  }
  assertEquals(at, [0]);
  assertEquals((await searches.find("a"))!.matching, 10); // found by the previous search
  assertEquals(at, [0, 1000]);
});

Deno.test("searches: short searches are counted together", async () => {
  using time = new FakeTime();
  const { searches, at } = searchesOf({ time, takes: 1 });
  const began = Date.now();
  for (let i = 0; i < 10_000; i++) {
    await searches.find(`${i}`);
    time.tick(1);
  }
  assert(at.length >= 400 && at.length <= 600, `${at.length} searches of 1 ms in ${Date.now() - began} ms`);
});

Deno.test("searches: of the requests that are repeated, the one that waited longest is next; others are forgotten", async () => {
  using time = new FakeTime();
  const { searches } = searchesOf({ time, takes: 40 });
  assertEquals(await ask(time, searches, ["a", "b", "c", "d"], 8), [0, 1, 2, 3]);
  for (let i = 0; i < 500; i++) await searches.find(`once-${i}`);
  const [known] = await ask(time, searches, ["patient"], 10);
  assert(known! >= 0 && known! <= 4, `known after ${known} s`);
});

Deno.test("searches: a result is shown until there is a newer one, unless it is old or the queue changed", async () => {
  using time = new FakeTime();
  const { searches, at } = searchesOf({ time, takes: 1000 });
  await searches.find("a");
  time.tick(15_000);
  assertEquals((await searches.find("a"))!.matching, 10);
  searches.forget();
  assertEquals(await searches.find("a"), undefined);
  assertEquals(at.length, 1);
  time.tick(4000);
  assertEquals((await searches.find("a"))!.matching, 10);
  assertEquals(at.length, 2);
});

Deno.test("searches: a search finds all matches among any number of items, and lists those that are due first", async () => {
  using _time = new FakeTime();
  const items = Array.from({ length: 200_001 }, (_, i) => ({ item: `a-${i}`, priority: 0, dueInMs: 300_000 - i }));
  const found = (await searchesIn(() => items).find("a-"))!;
  assertEquals([found.matching, found.items.length], [200_001, 1000]);
  assertEquals([found.items[0]!.key, found.items.at(-1)!.key], ["a-200000", "a-199001"]);
});

Deno.test("searches: a search lets timers run every few milliseconds", async () => {
  using time = new FakeTime();
  const items = Array.from({ length: 100 }, (_, i) => ({ item: i, priority: 0, dueInMs: i }));
  let inTurn = 0;
  const searches = searchesIn(() => items, (item) => {
    time.tick(1);
    inTurn++;
    return String(item);
  });
  const turns: number[] = [];
  const found = await settle(time, searches.find("9"), () => turns.push(inTurn) && (inTurn = 0));
  assertEquals([found!.matching, found!.items.length], [19, 19]);
  assertEquals([turns.length, Math.max(...turns)], [25, 4]);
});

Deno.test("searches: a search ends in time even if texts are slow to create, and gets further once they exist", async () => {
  using time = new FakeTime();
  const items = Array.from({ length: 3500 }, (_, i) => ({ item: `a-${i}`, priority: 0, dueInMs: i }));
  const made = new Set<unknown>();
  const searches = searchesIn(() => items, (item) => {
    if (!made.has(item)) time.tick(1);
    made.add(item);
    return String(item);
  });
  const known = [];
  for (let i = 0; i < 4; i++) {
    void settle(time, searches.find("a"));
    await flush();
    for (let turn = 0; turn < 300; turn++) {
      time.tick(0);
      await flushPromises();
    }
    known.push((await settle(time, searches.find("a")))?.matching);
    assert(made.size <= (i + 1) * 1070, `${made.size} texts were made`);
    time.tick(30_000);
  }
  assertEquals(known, [null, null, null, 3500]);
});

Deno.test("searches: a server that fails, or does not answer, delays no viewer", async () => {
  using time = new FakeTime();
  let answer: Promise<never[]> = Promise.reject(new Error("away"));
  let calls = 0;
  const searches = searchesIn(() => (calls++, answer));
  assertEquals(await searches.find("a"), undefined);
  answer = new Promise(() => {});
  const first = searches.find("b");
  assertEquals(await searches.find("c"), undefined);
  time.tick(900);
  assertEquals([await first, calls], [undefined, 2]);
});

Deno.test("details: until a search has run, the listed items are searched", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  for (let i = 0; i < 5000; i++) queue.addAfter(`order-${i}`, 1_000_000 + i);
  let searched = 0;
  const { records } = insideOf(queue);
  const used = records.used.bind(records);
  records.used = () => {
    searched++;
    time.tick(100);
    return used();
  };
  using asked = new Asked({ queues: { images: { queue } } });
  const find = async (search: string) => {
    const { matching, delayedItems } = await asked.details("images", `?search=${search}&limit=1000`);
    return [matching, delayedItems.length];
  };
  assertEquals(await find("order-499"), [11, 11]);
  assertEquals(await find("order-49"), [null, 11]); // of 111
  for (let i = 0; i < 100; i++) await find(`${i}`);
  assertEquals(searched, 1);

  const watching = await asked.watch("?queue=images&search=order-49&limit=1000");
  await flush();
  for (let second = 0; second < 6; second++) {
    time.tick(1000);
    await flush();
  }
  const { data } = (await watching.take()).findLast(({ event }) => event === "queue")!;
  assertEquals([data.matching, data.delayedItems.length], [111, 111]);
  await watching.end();
});
