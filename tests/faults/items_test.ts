/**
 * Tests of items of every kind, in every layer. Also tests items that are added while a queue is calling a
 * collaborator.
 */

import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type Lease,
  type RateLimiter,
  type RateLimitingQueue,
  runWorkers,
} from "@workqueue/core";
import { Console, HandClock } from "../helpers.ts";
import { flush, isSettled, randomNumbers, take, takeAll } from "../queue_helpers.ts";
import { HookedAges, HookedDiscipline, HookedKeys, HookedMetrics, type Keyed, METRIC_CALLS } from "./hooks.ts";

const limiter = <T>() => createExponentialLimiter<T>({ baseDelay: 100, maxDelay: 1000 });

/** Returns a proxy that throws on every operation except `typeof` and comparisons. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Items that all differ from one another. A queue treats none of these items specially. */
const ITEMS: readonly [name: string, item: unknown][] = [
  ["NaN", NaN],
  ["zero", 0],
  ["undefined", undefined],
  ["null", null],
  ["the empty text", ""],
  ["false", false],
  ["a big integer", 2n ** 70n],
  ["a symbol", Symbol("item")],
  ["a registered symbol", Symbol.for("item")],
  ["a function", () => {}],
  ["a class", class {}],
  ["a frozen object", Object.freeze({ id: 1 })],
  ["an object without a prototype", Object.create(null)],
  ["a proxy that throws", revoked()],
  ["a promise", Promise.resolve("its value")],
  ["a thenable", {
    then() {
      throw new Error("nobody may call it");
    },
  }],
  ["a shutdown look-alike", { item: undefined, shutdown: true }],
];

for (const [name, item] of ITEMS) {
  Deno.test(`rule 8: ${name} is an ordinary item, in every layer`, async () => {
    const clock = new HandClock();
    const queue = createRateLimitingQueue<unknown>(limiter(), { clock });
    const isIt = (given: unknown) => assert(Object.is(given, item));

    for (let i = 0; i < 2; i++) queue.add(item);
    assertEquals(queue.length, 1);
    const lease = take(queue);
    isIt(lease.item);
    assertEquals(lease.shutdown, false);
    queue.add(item);
    assertEquals(queue.length, 0);
    queue.done(item);
    assertEquals(queue.length, 1);
    takeAll(queue);

    for (let i = 0; i < 2; i++) queue.addRateLimited(item);
    queue.addAfter(item, 50);
    assertEquals([queue.delayed, queue.numRequeues(item)], [1, 2]);
    const waiter = queue.get();
    await clock.advance(50);
    isIt((await waiter).item);
    queue.forget(item);
    assertEquals(queue.numRequeues(item), 0);
    queue.done(item);
    assertEquals([queue.length, queue.delayed, clock.timers], [0, 0, 0]);

    const seen: [unknown, number][] = [];
    const pool = runWorkers(queue, (given, { attempt }) => {
      seen.push([given, attempt]);
      if (attempt === 1) throw new Error("no");
    }, { onError() {} });
    queue.add(item);
    await flush();
    await clock.advance(100);
    await pool.stop();
    assertEquals(seen.map(([, attempt]) => attempt), [1, 2]);
    for (const [given] of seen) isIt(given);

    queue.add(item);
    queue.shutDown();
    const results: unknown[] = [];
    for await (const given of queue) results.push(given);
    assertEquals(results.length, 1);
    isIt(results[0]);
    assert(await isSettled(queue.shutDownWithDrain()));
  });
}

Deno.test("rule 8: NaN is one item, and so are 0 and -0, as in a Map", () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<number>(limiter(), { clock });
  for (const item of [NaN, -0, 0, 0 / 0]) queue.add(item);
  assertEquals(queue.length, 2);
  const leases = [take(queue), take(queue)];
  queue.add(-0);
  assertEquals(queue.length, 0);
  for (const lease of leases) lease[Symbol.dispose]();
  assertEquals(takeAll(queue).map(Math.abs), [0]);
  for (const item of [0, -0, NaN, NaN]) queue.addRateLimited(item);
  assertEquals([queue.delayed, queue.numRequeues(0), queue.numRequeues(-0), queue.numRequeues(NaN)], [2, 2, 2, 2]);
  queue.forget(-0);
  assertEquals([queue.numRequeues(0), queue.numRequeues(NaN)], [0, 2]);
  queue.shutDown();
});

Deno.test("rule 8: a key may be any value as well, including undefined and NaN", () => {
  for (const key of [undefined, NaN, -0, null, Symbol(), () => {}]) {
    const queue = createRateLimitingQueue<{ version: number }>(limiter(), {
      keyOf: () => key,
      clock: new HandClock(),
    });
    for (let version = 1; version <= 3; version++) queue.add({ version });
    assertEquals(queue.length, 1);
    const lease = take(queue);
    assertEquals(lease.item, { version: 3 });
    queue.addAfter({ version: 4 }, 10);
    queue.add({ version: 5 });
    queue.done({ version: 0 });
    assertEquals(takeAll(queue), [{ version: 5 }]);
    assertEquals(queue.delayed, 1);
    queue.shutDown();
  }
});

Deno.test("a frozen item works, and the queue changes no item", async () => {
  const item = Object.freeze({ list: Object.freeze([1]) });
  const queue = createRateLimitingQueue<typeof item>(limiter(), { clock: new HandClock() });
  queue.add(item);
  queue.addRateLimited(item);
  runWorkers(queue, (given) => assertEquals(Reflect.ownKeys(given), ["list"]));
  await queue.shutDownWithDrain({ delayed: "flush" });
});

/** Takes all ready items before finishing any, so that duplicates are visible. Returns the items' keys, sorted. */
function holdAll(queue: RateLimitingQueue<Keyed>): string[] {
  const leases: Lease<Keyed>[] = [];
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) leases.push(lease);
  for (const lease of leases) lease[Symbol.dispose]();
  return leases.map(({ item }) => item.key).sort();
}

/** Creates a queue with hooks in all its collaborators. */
function hooked(useDiscipline: boolean) {
  const metrics = new HookedAges();
  const discipline = new HookedDiscipline<Keyed>();
  const keys = new HookedKeys();
  const clock = new HandClock();
  const onWhen = { run: () => {} };
  const exponential = limiter<Keyed>();
  const limits: RateLimiter<Keyed> = {
    when(item, key) {
      onWhen.run();
      return exponential.when(item, key);
    },
    forget: (item, key) => exponential.forget(item, key),
    numRequeues: (item, key) => exponential.numRequeues(item, key),
  };
  const queue = createRateLimitingQueue<Keyed>(limits, {
    name: "q",
    metrics,
    keyOf: keys.keyOf,
    clock,
    ...(useDiscipline ? { discipline } : {}),
  });
  /** Functions that arrange for an action to run once, in the middle of the next call of a given kind. */
  const hooks: Record<string, (action: () => void) => void> = {
    keyOf: (action) => keys.hooks.once("keyOf", action),
    when: (action) =>
      onWhen.run = () => {
        onWhen.run = () => {};
        action();
      },
  };
  for (const call of METRIC_CALLS) hooks[call] = (action) => metrics.hooks.once(call, action);
  for (const call of ["push", "pop", "touch"] as const) {
    if (useDiscipline) hooks[call] = (action) => discipline.hooks.once(call, action);
  }
  return { queue, clock, hooks };
}

type Hooked = ReturnType<typeof hooked>;

/** Operations in which a queue calls its collaborators. Each operation returns the keys that were handed out. */
const occasions: Record<string, (hooked: Hooked) => string[] | Promise<string[]>> = {
  "an item is added": ({ queue }) => {
    queue.add({ key: "a" });
    return [];
  },
  "an item is added again": ({ queue }) => {
    queue.add({ key: "a" });
    queue.add({ key: "a" });
    return [];
  },
  "a processing item is added again and done": ({ queue }) => {
    queue.add({ key: "a" });
    using lease = take(queue);
    queue.add({ key: "a" });
    return [lease.item.key];
  },
  "an item is handed out and done": ({ queue }) => {
    queue.add({ key: "a" });
    using lease = take(queue);
    return [lease.item.key];
  },
  "an item's delay ends": async ({ queue, clock }) => {
    queue.addAfter({ key: "a" }, 10);
    queue.addRateLimited({ key: "a" });
    await clock.advance(10);
    return [];
  },
};

for (const useDiscipline of [false, true]) {
  for (const call of Object.keys(hooked(useDiscipline).hooks)) {
    const where = useDiscipline ? `${call} of a queue with a discipline` : call;
    Deno.test(`rules 1 and 2: adding from inside ${where} creates no second entry for a key, and loses none`, async () => {
      for (const [occasion, act] of Object.entries(occasions)) {
        for (const added of [["a"], ["b"], ["b", "a", "b"]]) {
          const made = hooked(useDiscipline);
          const { queue, clock, hooks } = made;
          const expected = new Set(["a"]);
          hooks[call]!(() => {
            for (const key of added) {
              expected.add(key);
              queue.add({ key });
            }
          });
          const given = [...await act(made)];
          await clock.advance(1000);
          for (let keys = holdAll(queue); keys.length > 0; keys = holdAll(queue)) {
            assertEquals(new Set(keys).size, keys.length, `${occasion}: a key is there twice`);
            given.push(...keys);
          }
          assertEquals([...new Set(given)].sort(), [...expected].sort(), occasion);
          hooks[call]!(() => {});
          for (const key of ["a", "b"]) queue.add({ key });
          assertEquals(holdAll(queue), ["a", "b"]);
          assert(await isSettled(queue.shutDownWithDrain()));
        }
      }
    });
  }
}

for (const call of ["depth.dec", "queueLatency.observe"] as const) {
  Deno.test(`rule 1: an item that ${call} adds again while it is handed out comes once more, and is measured`, () => {
    const metrics = new HookedMetrics();
    const queue = createWorkQueue<string>({ name: "q", metrics, clock: new HandClock() });
    metrics.hooks.once(call, () => queue.add("a"));
    queue.add("a");
    take(queue)[Symbol.dispose]();
    assertEquals(queue.length, 1);

    take(queue)[Symbol.dispose]();
    assertEquals(queue.length, 0);
  });
}

Deno.test("rules 1 to 6: after random errors and adds of collaborators, the queue is consistent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, useDiscipline) => {
      using _console = new Console();
      const random = randomNumbers(seed);
      const below = (n: number) => Math.floor(random() * n);
      const { queue, clock, hooks } = hooked(useDiscipline);
      const calls = Object.values(hooks);
      const processing = new Map<string, Lease<Keyed>>();
      const hold = (lease: Lease<Keyed> | undefined) => {
        if (lease === undefined) return;
        assert(!processing.has(lease.item.key), "rule 2: two holders");
        processing.set(lease.item.key, lease);
      };
      const attempt = (action: () => void) => {
        try {
          action();
        } catch (error) {
          assert(String(error).includes("broken"), String(error));
        }
      };
      for (let i = 0; i < 60; i++) {
        const item = { key: "abcd"[below(4)]! };
        if (random() < 0.3) {
          for (const arm of calls) arm(() => {}); // removes earlier hooks, so that only one fault happens at a time
          calls[below(calls.length)]!(() => {
            if (random() < 0.5) queue.add({ key: "abcd"[below(4)]! });
            if (random() < 0.7) throw new Error("broken");
          });
        }
        switch (below(6)) {
          case 0:
            attempt(() => queue.add(item));
            break;
          case 1:
            attempt(() => queue.addAfter(item, below(20)));
            break;
          case 2:
            attempt(() => hold(queue.tryGet()));
            break;
          case 3: {
            const lease = processing.get(item.key);
            processing.delete(item.key);
            attempt(() => lease?.[Symbol.dispose]());
            break;
          }
          case 4:
            await clock.advance(below(30)).catch(() => {});
            break;
          case 5:
            queue.get({ signal: AbortSignal.abort() }).catch(() => {});
            break;
        }
      }
      for (const arm of calls) arm(() => {});
      for (const lease of processing.values()) attempt(() => lease[Symbol.dispose]());
      for (let i = 0; i < 5; i++) await clock.advance(5000).catch(() => {});
      for (const key of "abcd") attempt(() => queue.add({ key }));
      for (let i = 0; i < 5; i++) attempt(() => takeAll(queue));
      for (const key of "abcd") queue.add({ key });
      assertEquals(holdAll(queue), ["a", "b", "c", "d"]);
      assertEquals(queue.delayed, 0);
      assert(await isSettled(queue.shutDownWithDrain()), "rule 6: the drain ends");
      assertEquals(clock.timers, 0);
    }),
    { numRuns: 300 },
  );
});
