/** Tests of failures on the dashboard: timeouts, exact counts, groups of errors, and actions on selected items. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createExponentialLimiter, createRateLimitingQueue, runWorkers, type WorkerOptions } from "@workqueue/core";
import type { ControlResult } from "@workqueue/dashboard";
import { Failures } from "../../packages/dashboard/watch/failures.ts";
import { flush, flushPromises, takeAll } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

const HOUR = 3_600_000;

/** Starts a queue with a pool and a dashboard. `fail` returns the error of an item, if the item is to fail. */
function start(fail: (item: string, attempt: number) => string | undefined, options: WorkerOptions<string> = {}) {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: HOUR, maxDelay: HOUR }));
  const pool = runWorkers(queue, (item, { attempt }) => {
    const error = fail(item, attempt);
    if (error !== undefined) throw new Error(error);
  }, { onError: () => {}, concurrency: 10, ...options });
  const asked = new Asked({ queues: { orders: { queue, pool } } });
  return {
    ...{ queue, pool, asked },
    /** Sends an action. Returns all of the result. */
    async act(action: string, body: object): Promise<ControlResult> {
      const { instance } = await asked.state();
      const headers = {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "x-workqueue-instance": instance,
      };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return await (await asked.get(`api/queues/orders/${action}`, init)).json();
    },
    async [Symbol.asyncDispose]() {
      asked[Symbol.dispose]();
      queue.shutDown();
      await pool.stop();
    },
  };
}

async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    time.tick(Math.min(left, 1000));
    await flush();
  }
}

Deno.test("timeouts: an attempt fails on the page at its timeout, while its handler continues", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5000, maxDelay: 5000 }));
  const ends = new Map<string, () => void>();
  const pool = runWorkers(queue, (item) => new Promise<void>((resolve) => ends.set(item, resolve)), {
    ...{ timeout: "5s", concurrency: 2, onError: () => {} },
  });
  using asked = new Asked({ queues: { orders: { queue, pool } } });
  await flush();
  queue.add("hangs");
  await flush();
  await pass(time, 6000);
  queue.add("new");
  await flush();
  await pass(time, 1000);
  const error = "TimeoutError: The handler did not end within 5000 ms";
  const details = await asked.details("orders");
  assertEquals([details.counts.failing, details.abandoned, details.rates.failures], [1, 1, 0.143]);
  assertEquals(details.failingItems, [
    { key: "hangs", attempts: 1, error, ago: 2000, dueInMs: null, decidedBy: null, abandonedFor: 2000 },
  ]);
  assertEquals(details.runningItems, [
    { key: "hangs", attempt: 1, for: 7000, abandonedFor: 2000 },
    { key: "new", attempt: 1, for: 1000 },
  ]);
  assertEquals(details.errors.map(({ message, count, items, keys }) => [message, count, items, keys]), [
    ["TimeoutError: The handler did not end within * ms", 1, 1, ["hangs"]],
  ]);
  ends.get("hangs")!();
  await flush();
  await pass(time, 1000);
  const ended = await asked.details("orders");
  assertEquals([ended.counts.failing, ended.abandoned, ended.counts.delayed], [1, 0, 1]);
  assertEquals(ended.failingItems[0]!.dueInMs, 4000);
  assertEquals(ended.errors[0]!.count, 1, "counted once");
  await pass(time, 4000);
  ends.get("new")!();
  ends.get("hangs")!();
  await flush();
  await pass(time, 1000);
  assertEquals((await asked.row()).counts.failing, 1, "'new' has timed out, 'hangs' has succeeded");
  queue.shutDown();
  await pool.stop();
});

Deno.test("timeouts: an item forgotten while its handler is abandoned fails with a known error when the handler ends", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: HOUR, maxDelay: HOUR }));
  const ends: (() => void)[] = [];
  const pool = runWorkers(queue, () => new Promise<void>((resolve) => ends.push(resolve)), {
    ...{ timeout: "5s", onError: () => {} },
  });
  using asked = new Asked({ queues: { orders: { queue, pool } } });
  queue.add("hangs");
  await pass(time, 6000);
  queue.forget("hangs");
  assertEquals((await asked.details("orders")).counts.failing, 0);
  ends[0]!();
  await pass(time, 1000);
  const { counts, errors, errorsUnknown } = await asked.details("orders");
  assertEquals([counts.failing, errorsUnknown], [1, 0]);
  assertEquals(errors.map(({ count, items, keys }) => [count, items, keys]), [[1, 1, ["hangs"]]]);
  queue.shutDown();
  await pool.stop();
});

Deno.test("failing: counts beyond the lists are exact, in the row, the chart and the details", async () => {
  using time = new FakeTime();
  await using started = start((item) => `no ${item}`);
  const { queue, asked } = started;
  for (let i = 0; i < 2500; i++) queue.add(`order-${i}`);
  await flush();
  await pass(time, 5000);
  const details = await asked.details("orders", "?limit=1000");
  assertEquals([details.counts.failing, details.failingItems.length], [2500, 1000]);
  assertEquals([details.matchingFailing, details.errorsUnknown], [2500, 0]);
  assertEquals(details.history.failing.at(-1), 2500);
  assertMatch(details.reason, /2,500 of 2,500/);
  for (let i = 0; i < 500; i++) queue.forget(`order-${i}`);
  await asked.post("api/queues/orders/take-back", { search: "order-24" });
  const after = await asked.details("orders");
  assertEquals([after.counts.failing, after.errors[0]!.items, after.errors[0]!.count], [1900, 1900, 2500]);
});

Deno.test("errors: grouped by message without variable parts, with counts, times, an example and keys", async () => {
  using time = new FakeTime();
  const began = Date.now();
  await using started = start((item, attempt) =>
    item === "done" && attempt > 1
      ? undefined
      : item.startsWith("x")
      ? `no customer ${item.slice(1)}`
      : `HTTP 50${attempt} from 10.0.0.${attempt}`
  );
  const { queue, asked } = started;
  for (let i = 0; i < 30; i++) queue.add(`x${i}`);
  queue.add("y");
  queue.add("done");
  await flush();
  await pass(time, HOUR);
  const details = await asked.details("orders");
  assertEquals(details.errors, [
    {
      message: "Error: no customer *",
      count: 60,
      items: 30,
      first: began,
      last: began + HOUR,
      example: "Error: no customer 29",
      keys: Array.from({ length: 10 }, (_, i) => `x${i}`),
    },
    {
      message: "Error: HTTP 502 from *",
      count: 1,
      items: 1,
      first: began + HOUR,
      last: began + HOUR,
      example: "Error: HTTP 502 from 10.0.0.2",
      keys: ["y"],
    },
  ], "the group without failing items is old");
  const found = await asked.details("orders", "?search=NO%20CUSTOMER%202");
  assertEquals(found.failingItems.length, 11, "2 and 20 to 29");
  assertEquals([found.matching, found.matchingFailing], [11, 11]);
  assertEquals((await asked.details("orders", "?search=http%20502%20from%20*")).matching, 1, "a group's message");
  assertEquals((await asked.details("orders", "?search=502")).errors.length, 1);
});

Deno.test("errors: a search finds the errors of items that no list has", async () => {
  using time = new FakeTime();
  await using started = start((item) => item === "order-0" ? "disk full" : "no");
  const { queue, asked } = started;
  queue.add("order-0");
  await flush();
  for (let i = 1; i < 3000; i++) queue.add(`order-${i}`);
  await flush();
  await pass(time, 1000);
  const { failingItems, delayedItems, matching } = await asked.details("orders", "?search=disk");
  assertEquals([matching, delayedItems.map(({ key }) => key)], [1, ["order-0"]]);
  assertEquals(failingItems.map(({ key, error, dueInMs }) => [key, error, dueInMs! > 0]), [[
    "order-0",
    "Error: disk full",
    true,
  ]]);
});

Deno.test("errors: given-up items have groups, too, which disappear after fifteen minutes", async () => {
  using time = new FakeTime();
  await using started = start(() => "gone", { maxRetries: 0 });
  started.queue.add("a");
  await flush();
  await pass(time, 60_000);
  const errors = async () => (await started.asked.details("orders")).errors.map(({ count, items }) => [count, items]);
  assertEquals(await errors(), [[1, 0]]);
  await pass(time, 15 * 60_000);
  assertEquals(await errors(), []);
});

Deno.test("errors: errors from before the dashboard, or of another pool, are unknown or limited to the latest 1,000", async () => {
  using _time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: HOUR, maxDelay: HOUR }));
  const fail = () => Promise.reject(new Error("no"));
  const pool = runWorkers(queue, fail, { onError: () => {}, concurrency: 100 });
  for (let i = 0; i < 1500; i++) queue.add(`${i}`);
  await flush();
  using asked = new Asked({ queues: { orders: { queue, pool } } });
  pool.pause();
  await flush();
  const other = runWorkers(queue, fail, { onError: () => {} });
  queue.add("elsewhere");
  await flush();
  const { counts, errors, errorsUnknown, matchingFailing } = await asked.details("orders", "?search=e");
  assertEquals([counts.failing, errors[0]!.items, errorsUnknown, matchingFailing], [1501, 1000, 501, null]);
  queue.shutDown();
  await Promise.all([pool.stop(), other.stop()]);
});

Deno.test("errors: a key that often fails and succeeds is not deleted from the map of all failing items", () => {
  const failures = new Failures(String);
  const fail = (key: string) => failures.add({ item: key, key, attempts: 1, error: "Error: no" }, 0);
  for (let i = 0; i < 1000; i++) fail(`key-${i}`);
  const { delete: original } = Map.prototype;
  let deleted = 0;
  // After a key was deleted from a large map, the next operations on this key are slower.
  Map.prototype.delete = function (key) {
    if (key === "often") deleted++;
    return original.call(this, key);
  };
  try {
    for (let i = 0; i < 1000; i++) {
      fail("often");
      failures.delete("often");
    }
  } finally {
    Map.prototype.delete = original;
  }
  assertEquals([deleted, failures.size, failures.get("often"), [...failures.all()].length], [0, 1000, undefined, 1000]);
});

Deno.test("errors: at most 100 groups are listed, and a last one for all others", () => {
  using time = new FakeTime();
  const failures = new Failures(String);
  const letters = (i: number) => String.fromCharCode(97 + i % 26, 97 + Math.floor(i / 26));
  const fail = (key: string, error: string) => failures.add({ item: key, key, attempts: 1, error }, Date.now());
  for (let i = 0; i < 103; i++) fail(`k${i}`, `Error: ${letters(i)}`);
  const groups = failures.groups();
  assertEquals([groups.length, groups.at(-1)!.message, groups.at(-1)!.items], [101, null, 3]);
  assertEquals(failures.size, 103);
  failures.delete("k0");
  time.tick(1000);
  fail("k200", "Error: new");
  assertEquals(failures.groups().some(({ message }) => message === "Error: new"), true, "in place of an ended one");
  assertEquals(failures.groups().length, 101);
});

Deno.test("selection: failing items are retried by error, group, search or all at once, and others are left alone", async () => {
  using _time = new FakeTime();
  await using started = start((item) => item.includes("bad") ? `no ${item.split("-")[1]} at 10` : "HTTP 503");
  const { queue, pool, act } = started;
  for (const item of ["acme/bad-1", "acme/bad-2", "acme/3", "globex/bad-4", "globex/5"]) queue.add(item);
  await flush();
  pool.pause();
  await flush();
  for (let i = 0; i < 5000; i++) queue.addAfter(`acme/${1000 + i}`, "2h");

  const count = (body: object) => act("retry", { ...body, preview: true });
  const kinds = async (body: object) => {
    const { matched: { failing, others } = {}, done } = await count(body);
    return [failing, others, done];
  };
  assertEquals(await kinds({ failing: true }), [5, 0, 0]);
  assertEquals(await kinds({ search: "" }), [5, 5000, 0]);
  assertEquals(await kinds({ error: "http" }), [2, 0, 0]);
  assertEquals(await kinds({ error: "Error: no * at *" }), [3, 0, 0]);
  assertEquals(await kinds({ error: "Error: no 2 at 10" }), [1, 0, 0]);
  assertEquals(await kinds({ group: "acme" }), [3, 5000, 0]);
  assertEquals(await kinds({ group: "acme", failing: true }), [3, 0, 0]);
  assertEquals(await kinds({ group: "ac" }), [0, 0, 0]);
  assertEquals(await kinds({ error: "no", group: "acme", search: "BAD-2" }), [1, 0, 0]);
  assertEquals(await kinds({ search: "no 4 at" }), [1, 0, 0]);
  assertEquals((await count({ search: "" })).message, "5 failing items and 5,000 items delayed without a failure.");
  assertEquals((await count({ failing: true, group: "globex" })).message, "2 failing items.");
  assertEquals((await count({ group: "none" })).message, "No delayed item.");
  assertEquals([queue.length, queue.delayed], [0, 5005], "previews change nothing");

  assertEquals(await act("retry", { failing: true, group: "globex" }), {
    ...{ message: "2 items are ready now.", matched: { failing: 2, others: 0 }, notChecked: 0, done: 2 },
  });
  assertEquals(takeAll(queue), ["globex/bad-4", "globex/5"]);
  assertEquals((await act("take-back", { error: "no" })).done, 2);
  assertEquals((await act("retry", { failing: true })).done, 1);
  assertEquals([takeAll(queue), queue.delayed], [["acme/3"], 5000]);
});

Deno.test("selection: items that are retried keep their failures", async () => {
  using _time = new FakeTime();
  const attempts: number[] = [];
  await using started = start((_item, attempt) => (attempts.push(attempt), "no"));
  const { queue, act, asked } = started;
  queue.add("a");
  await flush();
  await act("retry", { failing: true });
  await flush();
  assertEquals([attempts, queue.numRequeues("a"), (await asked.row()).counts.failing], [[1, 2], 2, 1]);
});

Deno.test("selection: without a pool, failing items are known, but their errors are not", async () => {
  using _time = new FakeTime();
  await using started = start((item) => item === "bad" ? "no" : undefined);
  const { queue } = started;
  using alone = new Asked({ queues: { orders: { queue } } });
  queue.add("bad");
  queue.addAfter("later", "1h");
  await flush();
  const count = async (body: object) => (await alone.post("api/queues/orders/retry", { ...body, preview: true }))[1];
  assertEquals(await count({ failing: true }), "1 failing item.");
  assertEquals(await count({ error: "no" }), "No delayed item.");
});

Deno.test("selection: the answer has the number of affected items and the total", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const keyText = (item: string) => {
    if (item === "last") time.tick(10); // the slice is over
    return item;
  };
  using asked = new Asked({ queues: { orders: { queue, keyText } } });
  for (const item of ["a", "b", "last"]) queue.addAfter(item, "1h");
  const answer = asked.post("api/queues/orders/take-back", { search: "a" });
  await flushPromises();
  queue.cancelDelayed("a");
  time.tick(0);
  assertEquals(await answer, [
    200,
    "1 of 2 items are taken back, and will not run unless added again. The others were no longer delayed.",
  ]);
});

for (const action of ["retry", "take-back"]) {
  Deno.test(`selection: ${action} of 1,000 items lets timers run every four milliseconds`, async () => {
    using time = new FakeTime();
    const queue = createRateLimitingQueue<{ id: number }>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
    let inTurn = 0;
    const work = () => {
      time.tick(0.5);
      inTurn++;
    };
    const add = queue.add.bind(queue);
    queue.add = (item) => (work(), add(item));
    const keyText = ({ id }: { id: number }) => (work(), `item ${id}`);
    using asked = new Asked({ queues: { orders: { queue, keyText, onTakeBack: work } } });
    for (let id = 0; id < 1000; id++) queue.addAfter({ id }, "1h");
    await asked.state();
    inTurn = 0;
    const turns: number[] = [];
    let answer: [number, string] | undefined;
    void asked.post(`api/queues/orders/${action}`, { search: "item" }).then((result) => answer = result);
    while (answer === undefined) {
      await flushPromises();
      turns.push(inTurn);
      inTurn = 0;
      time.tick(0);
    }
    assertMatch(answer[1], /^1,000 items are /);
    assert(turns.length > 200, `${turns.length} turns`);
    assert(Math.max(...turns) <= 8, `${Math.max(...turns)} pieces of work of 0.5 ms in one turn`);
    queue.shutDown();
  });
}

Deno.test("errors: for a pool from another package, the errors that it lists are shown", async () => {
  using time = new FakeTime();
  await using started = start((item) => `no ${item}`);
  const { queue, pool } = started;
  const foreign = {
    ...{ pause() {}, resume() {}, stop: () => pool.stop() },
    snapshot: (options: { limit: number }) => pool.snapshot(options),
  };
  using asked = new Asked({ queues: { orders: { queue, pool: foreign as never } } });
  queue.add("order-1");
  await flush();
  await pass(time, 1000);
  const items = async () => (await asked.details("orders")).errors.map(({ message, items }) => [message, items]);
  assertEquals(await items(), [["Error: no *", 1]]);
  queue.cancelDelayed("order-1");
  queue.forget("order-1");
  await pass(time, 1000);
  assertEquals(await items(), [["Error: no *", 0]]);
});

Deno.test("errors: a cached search lists no item that has succeeded since", async () => {
  using time = new FakeTime();
  await using started = start((_item, attempt) => attempt === 1 ? "no" : undefined);
  const { queue, asked } = started;
  for (let i = 0; i < 1100; i++) queue.add(`order-${i}`);
  await flush();
  const listed = async () => {
    const { failingItems } = await asked.details("orders", "?search=order-0&limit=1000");
    return failingItems.map(({ key }) => key);
  };
  assertEquals(await listed(), ["order-0"], "beyond the 1,000 items that the pool lists");
  queue.cancelDelayed("order-0");
  queue.add("order-0");
  await flush();
  await pass(time, 1000);
  assertEquals(await listed(), []);
});
