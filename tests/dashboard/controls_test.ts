/** Effect and message of each control. */

import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  adaptDiscipline,
  adaptThrottle,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  loadConfig,
  type QueueDiscipline,
  type ReadyEntry,
  runWorkers,
  type TokenBucket,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { beBusy, flush, takeAll } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Starts a queue from a config, with a paused pool whose handlers always fail. */
function start() {
  const document = { queues: { images: { concurrency: 2, throttle: { rate: 10, burst: 5 } } } };
  const config = loadConfig(document);
  const queue = config.queue<string>("images");
  const pool = config.runWorkers("images", queue, () => {
    throw new Error("no");
  }, { onError: () => {} });
  pool.pause();
  let next: string | object | Error = document;
  const readConfig = () => {
    if (next instanceof Error) throw next;
    return next;
  };
  const asked = new Asked({ queues: { images: { queue, pool } }, config, readConfig });
  return {
    ...{ config, queue, pool, asked },
    willRead: (document: string | object | Error) => next = document,
    async [Symbol.asyncDispose]() {
      asked[Symbol.dispose]();
      queue.shutDown();
      await pool.stop();
    },
  };
}

Deno.test("controls: pause and resume the pool", async () => {
  await using started = start();
  const { asked, pool } = started;
  pool.resume();
  assertEquals(await asked.post("api/queues/images/pause"), [
    200,
    'The pool of "images" is paused: running handlers continue, and no more items are handed out.',
  ]);
  assertEquals([pool.snapshot().paused, (await asked.row()).verdict], [true, "paused"]);
  assertEquals(await asked.post("api/queues/images/resume"), [200, 'The pool of "images" is resumed.']);
  assertEquals([pool.snapshot().paused, (await asked.row()).verdict], [false, "healthy"]);
});

Deno.test("controls: the concurrency and the throttle can be changed", async () => {
  using _time = new FakeTime();
  await using started = start();
  const { asked, pool } = started;
  const bucket = pool.throttle as TokenBucket;
  assertEquals(await asked.post("api/queues/images/concurrency", { concurrency: 1200 }), [
    200,
    "The concurrency is now 1,200; it was 2.",
  ]);
  assertEquals(pool.concurrency, 1200);
  assertEquals(await asked.post("api/queues/images/throttle", { rate: 0.5, burst: 1 }), [
    200,
    "Attempts may now start 0.5 times a second, 1 at once.",
  ]);
  assertEquals([bucket.rate, bucket.burst], [0.5, 1]);
  assertEquals(await asked.post("api/queues/images/throttle", { rate: "unlimited" }), [
    200,
    "Attempts now start whenever a worker is free.",
  ]);
  assertEquals((await asked.details("images")).throttle, { rate: "unlimited", burst: 1, tokens: 1, resumesInMs: 0 });
});

Deno.test("controls: a throttle with a burst of 0 is shown as allowing no start", async () => {
  using _time = new FakeTime();
  await using started = start();
  assertEquals(await started.asked.post("api/queues/images/throttle", { rate: 5, burst: 0 }), [
    200,
    "Attempts don't start while the burst is 0.",
  ]);
});

Deno.test("controls: pause and resume the throttle", async () => {
  using time = new FakeTime();
  await using started = start();
  const { asked, pool, queue } = started;
  const bucket = pool.throttle as TokenBucket;
  pool.resume();
  const pause = (duration: number) => asked.post("api/queues/images/pause-throttle", { duration });
  const resume = () => asked.post("api/queues/images/resume-throttle");
  assertEquals(await resume(), [200, "The throttle was not paused: nothing was done."]);
  assertEquals(await pause(30_000), [200, "No attempt starts for 30 s."]);
  assertEquals([bucket.resumesInMs, (await asked.details("images")).throttle!.resumesInMs], [30_000, 30_000]);
  assertEquals(await pause(10_000), [200, "No attempt starts for 30 s."], "the later end wins");
  queue.add("a");
  await time.tickAsync(1000);
  assertEquals([totalsOf(queue).handedOut, (await asked.row()).verdict], [0, "paused"]);
  assertEquals(await resume(), [200, "Attempts may start again."]);
  await flush();
  assertEquals([totalsOf(queue).handedOut, (await asked.details("images")).throttle!.resumesInMs], [1, 0]);
});

Deno.test("controls: retry now works for one key or for all matches, and keeps priorities", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    discipline: createPriorityDiscipline({ maxHeadStart: Infinity }),
  });
  using asked = new Asked({ queues: { images: { queue } } });
  for (const [item, priority] of [["Acme/1", 0], ["acme/2", 5], ["other", 0]] as const) {
    queue.addAfter(item, "1h", { priority });
  }
  const retry = (body: object) => asked.post("api/queues/images/retry", body);
  assertEquals(await retry({ search: "ACME" }), [200, "2 items are ready now."]);
  assertEquals([takeAll(queue), queue.delayed], [["acme/2", "Acme/1"], 1]);
  assertEquals(await retry({ search: "acme" }), [200, "No delayed item matches: nothing was done."]);
  assertEquals(await retry({ key: "othe" }), [200, '"othe" is not delayed: nothing was done.']);
  assertEquals(await retry({ key: "other" }), [200, "1 item is ready now."]);
  assertEquals([takeAll(queue), queue.delayed], [["other"], 0]);
  queue.shutDown();
});

Deno.test("controls: retried items are tried no faster than the throttle allows", async () => {
  using time = new FakeTime();
  await using started = start();
  const { asked, pool, queue } = started;
  for (let i = 0; i < 20; i++) queue.addAfter(`${i}`, "1h");
  pool.resume();
  assertEquals(await asked.post("api/queues/images/retry", { search: "" }), [200, "20 items are ready now."]);
  await flush();
  assertEquals(totalsOf(queue).handedOut, 5);
  time.tick(500);
  await flush();
  assertEquals(totalsOf(queue).handedOut, 10);
});

Deno.test("controls: an act on one item does nothing if several items have its text", async () => {
  const queue = createRateLimitingQueue<{ name: string }>(createDefaultItemLimiter());
  const takenBack: string[] = [];
  const onTakeBack = ({ name }: { name: string }) => takenBack.push(name);
  using asked = new Asked({ queues: { images: { queue, keyText: ({ name }: { name: string }) => name, onTakeBack } } });
  for (const name of ["a", "b", "a"]) queue.addAfter({ name }, "1h");
  const message = "Nothing was done: 2 delayed items have this text. Search for it to act on all of them, or use " +
    "'keyText' to tell them apart.";
  for (const action of ["retry", "take-back"]) {
    assertEquals(await asked.post(`api/queues/images/${action}`, { key: "a" }), [422, message]);
  }
  assertEquals((await asked.post("api/queues/images/take-back", { key: "b" }))[0], 200);
  assertEquals(queue.delayed, 2);
  assertEquals((await asked.post("api/queues/images/take-back", { search: "a" }))[0], 200);
  assertEquals([queue.delayed, takenBack], [0, ["b", "a", "a"]], "who asked for it gets each");
  queue.shutDown();
});

Deno.test("controls: take back cancels delayed items, with their failures", async () => {
  using _time = new FakeTime();
  await using started = start();
  const { asked, pool, queue } = started;
  pool.resume();
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  await flush();
  assertEquals([queue.delayed, pool.snapshot().failingItems.length], [3, 3]);
  assertEquals(await asked.post("api/queues/images/take-back", { search: "a/" }), [
    200,
    "2 items are taken back, and will not run unless added again.",
  ]);
  assertEquals((await asked.details("images")).failingItems.map(({ key }) => key), ["b/1"]);
  assertEquals([queue.delayed, queue.numRequeues("a/1")], [1, 0]);
  assertEquals(await asked.post("api/queues/images/take-back", { key: "b/1" }), [
    200,
    "1 item is taken back, and will not run unless added again.",
  ]);
});

Deno.test("controls: cancel takes a delayed item out, and aborts a running one", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const told: string[] = [];
  const failed: unknown[] = [];
  await using pool = runWorkers(queue, (_item, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  }, { onError: (error) => failed.push(error) });
  using asked = new Asked({ queues: { images: { queue, pool, onTakeBack: (item: string) => told.push(item) } } });
  const cancel = (key: string) => asked.post("api/queues/images/cancel", { key });
  queue.add("running");
  queue.addAfter("delayed", "1h");
  await flush();
  assertEquals(await cancel("delayed"), [200, '"delayed" is cancelled, and will not run unless added again.']);
  const aborted = `"running" is cancelled: its handler's signal is aborted, and it is not retried.`;
  assertEquals(await cancel("running"), [200, aborted]);
  await flush();
  assertEquals(await cancel("running"), [200, '"running" is neither running nor delayed: nothing was done.']);
  assertEquals([queue.delayed, queue.processing, failed, told], [0, 0, [], ["delayed", "running"]]);
});

Deno.test("controls: cancel does nothing if several running or delayed items have the text", async () => {
  const queue = createRateLimitingQueue<{ id: number; name: string }>(createDefaultItemLimiter(), {
    keyOf: ({ id }) => id,
  });
  using asked = new Asked({ queues: { images: { queue, keyText: ({ name }: { name: string }) => name } } });
  queue.add({ id: 1, name: "a" });
  queue.tryGet();
  queue.addAfter({ id: 1, name: "a" }, "1h");
  queue.addAfter({ id: 2, name: "b" }, "1h");
  queue.addAfter({ id: 3, name: "b" }, "1h");
  const cancel = (key: string) => asked.post("api/queues/images/cancel", { key });
  const message = "Nothing was done: 2 items have this text. Use 'keyText' to tell them apart.";
  assertEquals(await cancel("b"), [422, message]);
  assertEquals([(await cancel("a"))[0], queue.delayed], [200, 2]);
  queue.shutDown();
});

for (const action of ["retry", "take-back"] as const) {
  Deno.test(`controls: ${action} of many items lets timers run`, async () => {
    const queue = createRateLimitingQueue<{ id: number }>(createDefaultItemLimiter());
    const onTakeBack = () => beBusy(1);
    const keyText = ({ id }: { id: number }) => {
      beBusy(1);
      return `item ${id}`;
    };
    using asked = new Asked({ queues: { images: { queue, keyText, onTakeBack } } });
    for (let id = 0; id < 100; id++) queue.addAfter({ id }, "1h");
    await asked.state(); // reads some items before the measurement
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const [status, message] = await asked.post(`api/queues/images/${action}`, { search: "item" });
    clearInterval(timer);
    assertEquals([status, message.split(" ").slice(0, 3), queue.delayed], [200, ["100", "items", "are"], 0]);
    assertGreater(turns, 3);
    assertEquals(takeAll(queue).length, action === "retry" ? 100 : 0);
    queue.shutDown();
  });
}

Deno.test("controls: items are found by their texts, however long or unusual", async () => {
  interface Order {
    id: number;
    note: string;
  }
  const queue = createRateLimitingQueue<Order>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    keyOf: ({ id }) => id,
  });
  using asked = new Asked({ queues: { orders: { queue, keyText: ({ note }) => note } } });
  queue.addAfter({ id: 1, note: '<img src="x">\n' }, "1h");
  queue.addAfter({ id: 2, note: "n".repeat(2000) }, "1h");
  for (const { key } of (await asked.details("orders")).delayedItems) {
    assertEquals((await asked.post("api/queues/orders/retry", { key }))[1], "1 item is ready now.");
  }
  assertEquals(queue.length, 2);
  queue.shutDown();
});

Deno.test("controls: the effect of an act is visible at once to all viewers", async () => {
  await using started = start();
  const { asked } = started;
  const watching = await asked.watch("?queue=images");
  await watching.take();
  await asked.post("api/queues/images/concurrency", { concurrency: 7 });
  assertEquals((await watching.take()).map(({ data }) => (data.queues?.[0] ?? data).workers.concurrency), [7, 7]);
  await watching.end();
});

Deno.test("controls: an unsupported act is shown with its reason, and refused with that reason", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const throttle = adaptThrottle({ acquire: () => Infinity });
  await using pool = runWorkers(queue, () => {}, { throttle });
  using asked = new Asked({ queues: { alone: { queue }, foreign: { queue, pool } } });
  const { can, cannot } = await asked.details("alone");
  assertEquals(can, ["retry", "takeBack", "cancel"]);
  assertEquals(cannot, {
    pause: "Pausing requires the queue's pool, which the dashboard was not given.",
    concurrency: "The dashboard was not given this queue's pool.",
    throttle: "No throttle of this queue is known here. To slow the queue, lower its concurrency.",
  });
  assertEquals(await asked.post("api/queues/alone/pause"), [422, cannot.pause]);
  assertEquals(await asked.post("api/queues/alone/concurrency", { concurrency: 1 }), [422, cannot.concurrency]);
  assertEquals(await asked.post("api/queues/alone/throttle", { rate: 1 }), [422, cannot.throttle]);
  assertEquals(await asked.post("api/queues/alone/pause-throttle", { duration: 1 }), [422, cannot.throttle]);
  assertEquals(await asked.post("api/queues/alone/resume-throttle"), [422, cannot.throttle]);
  assertEquals((await asked.details("foreign")).cannot, {
    throttle: "Its throttle is not a TokenBucket, so its rate cannot be changed.",
  });
  queue.shutDown();
});

const refused: [path: string, body: unknown, status: number, error: RegExp][] = [
  ["images/pause", "", 400, /^Cannot pause: the body is not valid JSON$/],
  ["images/pause", "[]", 422, /the body must be an object, got an array/],
  ["images/pause", { now: true }, 422, /the body has an unknown member "now"/],
  ["images/concurrency", {}, 422, /the body must have 'concurrency'$/],
  [
    "images/concurrency",
    { concurency: 1 },
    422,
    /the body has an unknown member "concurency"; did you mean "concurrency"\?/,
  ],
  ["images/concurrency", { concurrency: 0 }, 422, /'concurrency' must be an integer from 1 to 100,000, got 0/],
  ["images/concurrency", { concurrency: "1" }, 422, /got "1"/],
  ["images/throttle", { rate: -1 }, 422, /'rate' must be a number from 0 to 1,000,000,000, or "unlimited", got -1/],
  ["images/throttle", { rate: "fast" }, 422, /got "fast"/],
  ["images/throttle", { burst: 1.5 }, 422, /'burst' must be an integer from 0 to 1,000,000,000/],
  ["images/throttle", '{ "rate": 1e400 }', 422, /'rate' must be a number from 0 to 1,000,000,000, .*, got Infinity/],
  ["images/throttle", { rate: 20, burst: 1e15 }, 422, /'burst' must be an integer from 0 to 1,000,000,000/],
  ["images/throttle", '{ "burst": 1e400 }', 422, /got Infinity/],
  ["images/concurrency", '{ "concurrency": 1e400 }', 422, /'concurrency' must be an integer from 1 to 100,000/],
  [
    "images/pause-throttle",
    { duration: 1e12 },
    422,
    /'duration' must be a duration such as "250ms", "1h30m" or a number of milliseconds from 1 to 2147483647 ms/,
  ],
  ["images/pause-throttle", '{ "duration": 1e999 }', 422, /'duration'/],
  ["images/pause-throttle", { duration: "600h" }, 422, /'duration' must be a duration .*, got "600h"/],
  ["images/pause-throttle", { duration: "soon" }, 422, /got "soon"/],
  ["images/pause", { duration: 0 }, 422, /'duration' must be a duration/],
  ["images/pause-throttle", {}, 422, /the body must have 'duration'$/],
  ["images/resume-throttle", { duration: 1 }, 422, /the body has an unknown member "duration"/],
  ["images/retry", {}, 422, /the body must have 'key' or 'search' or 'failing' or 'error' or 'group'$/],
  ["images/retry", { preview: true }, 422, /the body must have 'key' or /],
  ["images/retry", { failing: false }, 422, /'failing' must be true, got false/],
  ["images/retry", { failing: true, key: "a" }, 422, /both 'key' and 'failing'/],
  ["images/retry", { errors: "no" }, 422, /the body has an unknown member "errors"; did you mean "error"\?/],
  ["images/cancel", {}, 422, /the body must have 'key'$/],
  ["images/take-back", { error: ["no"] }, 422, /'error' must be a string of at most 10,000 characters/],
  ["images/take-back", { failing: true, preview: 1 }, 422, /'preview' must be true or false, got 1/],
  ["images/retry", { key: "a", search: "b" }, 422, /both 'key' and 'search'/],
  ["images/retry", { key: 7 }, 422, /'key' must be a string of at most 10,000 characters/],
  ["images/retry", '{ "__proto__": { "search": "" } }', 422, /the body has an unknown member "__proto__"/],
  ["images/take-back", { key: "x".repeat(10_001) }, 422, /'key' must be a string of at most 10,000 characters/],
  ["images/drop", {}, 404, /there is no such action/],
  ["images/toString", {}, 404, /.*/],
  ["imges/pause", {}, 404, /this dashboard has no queue named "imges"; did you mean "images"\?/],
];

for (const [path, body, status, error] of refused) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  Deno.test(`controls: ${path} with ${text.slice(0, 50)} is refused`, async () => {
    await using started = start();
    const { asked, pool } = started;
    const [is, says] = await asked.post(`api/queues/${path}`, body);
    assertEquals(is, status);
    assertMatch(says, error);
    assertEquals([pool.concurrency, (pool.throttle as TokenBucket).rate], [2, 10]);
  });
}

Deno.test("reload: shows what would change, and changes it when asked to", async () => {
  await using started = start();
  const { asked, pool, willRead } = started;
  const ask = async (body: object) => {
    const { instance } = await asked.state();
    const headers = {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "x-workqueue-instance": instance,
    };
    return await (await asked.get("api/reload", { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  willRead({ queues: { images: { concurrency: 9, throttle: { rate: 20, burst: 5 } } } });
  const changes = [
    { path: "/queues/images/concurrency", old: 2, new: 9, inForce: "now" },
    { path: "/queues/images/throttle/rate", old: 10, new: 20, inForce: "now" },
  ].sort((a, b) => a.path < b.path ? -1 : 1);
  const sorted = (result: { changes: typeof changes }) => result.changes.sort((a, b) => a.path < b.path ? -1 : 1);

  const dry = await ask({});
  assertEquals([dry.message, sorted(dry), pool.concurrency], ["2 changes to apply.", changes, 2]);
  assertEquals(
    (await ask({ apply: true, shown: "another" })).error,
    "Nothing was done: the config has changed since it was shown",
  );
  willRead({ queues: { images: { concurrency: 500 } } }); // the file is saved again
  assertEquals(Object.keys(await ask({ apply: true, shown: dry.shown })), ["error"]);
  assertEquals(pool.concurrency, 2);
  willRead({ queues: { images: { concurrency: 9, throttle: { rate: 20, burst: 5 } } } });
  const wet = await ask({ apply: true, shown: dry.shown });
  assertEquals([wet.message, sorted(wet)], ["The config was reloaded: 2 changes.", changes]);
  assertEquals([pool.concurrency, (await asked.details("images")).throttle!.rate], [9, 20]);
  assertEquals(await ask({}), {
    message: "The config has not changed since it was last loaded. Values set by hand stay.",
    changes: [],
    shown: dry.shown,
  });
});

Deno.test("reload: problems of the file are shown, and nothing changes", async () => {
  await using started = start();
  const { asked, pool, willRead } = started;
  willRead({ queues: { images: { concurrency: 0 } } });
  const [status, error] = await asked.post("api/reload");
  assertEquals([status, pool.concurrency], [422, 2]);
  assertMatch(error, /'concurrency' must be a positive integer, got 0 \(at \/queues\/images\/concurrency\)/);
  willRead(new Error("there is no such file"));
  assertEquals(await asked.post("api/reload"), [422, "Error: there is no such file"]);
  using other = new Asked({ queues: {} });
  assertEquals((await other.post("api/reload"))[0], 404);
});

Deno.test("controls: a failing retry loses nothing, with a discipline that throws or a queue that drains", async () => {
  let fails = false;
  const entries: ReadyEntry<string>[] = [];
  const discipline = adaptDiscipline<QueueDiscipline<string>>({
    push(entry) {
      if (fails) throw new Error("no group");
      entries.push(entry);
    },
    pop: () => entries.shift(),
    touch() {},
    get length() {
      return entries.length;
    },
  });
  const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });
  const queue = createRateLimitingQueue<string>(limiter, { discipline });
  using asked = new Asked({ queues: { images: { queue } } });
  queue.addAfter("a", "1h");
  fails = true;
  assertEquals(await asked.post("api/queues/images/retry", { key: "a" }), [
    422,
    "Failed, or only partly done: Error: no group",
  ]);
  assertEquals([queue.delayed, queue.length], [1, 0]);

  fails = false;
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  const why = "The queue is shutting down: delayed items run when they are due.";
  assertEquals(await asked.post("api/queues/images/retry", { key: "a" }), [422, why]);
  assertEquals([queue.delayed, (await asked.details("images")).cannot.retry], [1, why]);
  queue.shutDown();
  await drained;
});
