/** Tests of the event stream of an open page, and of the stream's cost. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createExponentialLimiter, createRateLimitingQueue, type RateLimitingQueue } from "@workqueue/core";
import type { State } from "@workqueue/dashboard";
import { flush, insideOf } from "../queue_helpers.ts";
import { Asked, ORIGIN, Watching } from "./dashboards.ts";

function newQueue(): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }));
}

/** Records the `limit` of each snapshot taken of a queue. */
function noteLimits(queue: RateLimitingQueue<string>): number[] {
  const limits: number[] = [];
  const snapshot = queue.snapshot.bind(queue);
  queue.snapshot = (options) => {
    limits.push(options?.limit ?? 100);
    return snapshot(options);
  };
  return limits;
}

async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    time.tick(Math.min(left, 100));
    await flush();
  }
}

Deno.test("events: the state is sent at once and then every second, and includes all details of the requested queue", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  using asked = new Asked({ queues: { images: { queue }, others: { queue: newQueue() } } });
  const state = await asked.watch();
  const details = await asked.watch("?queue=images&search=b&limit=1");
  const names = async (watching: typeof state) => (await watching.take()).map(({ event }) => event);
  assertEquals([await names(state), await names(details)], [["state"], ["state", "queue"]]);

  for (const item of ["a", "b1", "b2"]) queue.add(item);
  await pass(time, 1000);
  const { queues } = (await state.take())[0]!.data as State;
  assertEquals(queues.map(({ name, counts }) => [name, counts.ready]), [["images", 3], ["others", 0]]);
  const [, queueEvent] = await details.take();
  assertEquals(queueEvent!.data.readyItems, [{ key: "b1", priority: 0 }]);
  assertEquals(queueEvent!.data.can, ["retry", "takeBack", "cancel"]);

  await pass(time, 5000);
  assertEquals([(await names(state)).length, (await names(details)).length], [5, 10]);
  await state.end();
  await details.end();
});

Deno.test("events: a stream ends with its request, with its reader, and with the dashboard", async () => {
  using time = new FakeTime();
  const asked = new Asked({ queues: { images: { queue: newQueue() } } });
  const controller = new AbortController();
  const [aborted, cancelled, disposed] = [
    await asked.watch("", { signal: controller.signal }),
    await asked.watch(),
    await asked.watch(),
  ];
  await pass(time, 1000);
  controller.abort();
  await cancelled.end();
  await flush();
  assertEquals([aborted.hasEnded, cancelled.hasEnded, disposed.hasEnded], [true, true, false]);
  await disposed.take();
  await pass(time, 1000);
  assertEquals((await disposed.take()).length, 1);

  asked[Symbol.dispose]();
  await flush();
  assertEquals(disposed.hasEnded, true);
  const late = await asked.watch();
  await flush();
  assertEquals(late.hasEnded, true);
  asked[Symbol.dispose]();
});

Deno.test("events: the request's signal is not used on Deno.serve, which warns about it and cancels the stream", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  const limits = noteLimits(queue);
  using asked = new Asked({ queues: { images: { queue } } });
  const request = new Request(`${ORIGIN}/api/events`);
  Object.defineProperty(request, "signal", {
    get() {
      throw new Error("looked at");
    },
  });
  const info = { remoteAddr: { hostname: "127.0.0.1" }, completed: new Promise<void>(() => {}) };
  const response = await asked.dashboard.fetch(request, info);
  assertEquals(response.status, 200);
  await pass(time, 1000);
  await response.body!.cancel();
  limits.splice(0);
  await pass(time, 10_000);
  assertEquals(limits, [0, 0]); // samples
});

Deno.test("events: a request for something missing, or without access, gets no stream", async () => {
  let mayLook = true;
  using asked = new Asked({ queues: { images: { queue: newQueue() } }, view: () => mayLook });
  const status = async (path: string, method = "GET") => {
    const response = await asked.get(path, { method });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await status("api/events?queue=image"), 404);
  for (const limit of ["0", "1001", "-1", "x", "1e2", ""]) assertEquals(await status(`api/events?limit=${limit}`), 400);
  assertEquals(await status(`api/events?search=${"x".repeat(1001)}`), 400);
  assertEquals(await status("api/events", "HEAD"), 200);
  mayLook = false;
  assertEquals(await status("api/events"), 403);
});

Deno.test("events: a stream ends when its reader loses access, and reports when the reader loses control", async () => {
  using time = new FakeTime();
  let [mayLook, mayControl] = [true, true];
  using asked = new Asked({
    queues: { images: { queue: newQueue() } },
    view: () => Promise.resolve(mayLook),
    control: () => mayControl,
  });
  const [watching, unread] = [await asked.watch("?queue=images"), await asked.get("api/events")];
  await pass(time, 10_000);
  assertEquals((await watching.take()).at(-2)!.data.mayControl, true);
  mayControl = false;
  await pass(time, 5000);
  assertEquals((await watching.take()).at(-2)!.data.mayControl, false);

  mayLook = false;
  await pass(time, 5000);
  const reported = (await watching.take()).length;
  assertEquals([watching.hasEnded, reported <= 8], [true, true]);
  await new Watching(unread.body!).done;
  assertEquals((await asked.get("api/events")).status, 403);
});

Deno.test("events: a slow reader gets only the pending message, and the latest one when it reads again", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  using asked = new Asked({ queues: { images: { queue } } });
  const response = await asked.get("api/events");
  await flush();
  for (let i = 0; i < 100; i++) {
    queue.add(`${i}`);
    await pass(time, 1000);
  }
  const reader = response.body!.getReader();
  const texts: string[] = [];
  for (let more = true; more;) {
    const { value } = await Promise.race([
      reader.read(),
      flush().then(() => flush()).then(() => ({ value: undefined })),
    ]);
    if (value === undefined) more = false;
    else texts.push(new TextDecoder().decode(value));
  }
  assert(texts.length <= 3, `${texts.length} were kept`);
  reader.releaseLock();
  await response.body!.cancel();
});

Deno.test("events: a process has at most 100 streams open, and the next request says so", async () => {
  using time = new FakeTime();
  using one = new Asked({ queues: { images: { queue: newQueue() } } });
  using other = new Asked({ queues: { images: { queue: newQueue() } } });
  const streams: Watching[] = [];
  for (let i = 0; i < 50; i++) streams.push(await one.watch(), await other.watch("?queue=images"));
  for (const asked of [one, other]) {
    const response = await asked.get("api/events");
    assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
    assertEquals(
      (await response.json()).error,
      "Too many pages are open: this process sends updates to at most 100 pages at once. " +
        "Close a page; this one tries again by itself.",
    );
  }
  assertEquals((await one.get("api/state")).status, 200);
  await streams.pop()!.end();
  const last = await one.watch();
  assertEquals((await one.get("api/events")).status, 503);
  for (const stream of [...streams, last]) await stream.end();
  await (await one.watch()).end();
  await pass(time, 1000);
});

Deno.test("cost: without viewers, a queue is read every five seconds, without its items", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  const limits = noteLimits(queue);
  using _asked = new Asked({ queues: { images: { queue } } });
  await flush();
  assertEquals(limits.splice(0), [0]);
  await pass(time, 60_000);
  assertEquals(limits, Array.from({ length: 12 }, () => 0));
});

Deno.test("cost: ten viewers cost one reading a second, with a fixed number of items", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  for (let i = 0; i < 10_000; i++) queue.addAfter(`tenant-${i % 7}/${i}`, 1_000_000 + i);
  for (let i = 0; i < 10_000; i++) queue.add(`tenant-${i % 7}/ready-${i}`);
  const other = newQueue();
  const [limits, others] = [noteLimits(queue), noteLimits(other)];
  using asked = new Asked({ queues: { images: { queue }, other: { queue: other } } });
  const watching = await Promise.all(Array.from({ length: 10 }, () => asked.watch("?queue=images")));
  await pass(time, 1000);
  limits.splice(0);
  others.splice(0);
  for (let second = 0; second < 60; second++) {
    await pass(time, 1000);
    assert(limits.length <= second + 1, `${limits.length} looks in ${second + 1} s`);
    assert(others.length <= second + 1, `${others.length} looks at the other in ${second + 1} s`);
  }
  assertEquals([Math.max(...limits), Math.max(...others)], [1000, 200]);
  for (const one of watching) await one.end();
  await pass(time, 5000);
  limits.splice(0);
  await pass(time, 10_000);
  assertEquals(limits, [0, 0]);
});

Deno.test("cost: many requests in one second are answered from one reading", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  const limits = noteLimits(queue);
  using asked = new Asked({ queues: { images: { queue } } });
  await flush();
  limits.splice(0);
  for (let i = 0; i < 20; i++) await asked.state();
  for (let i = 0; i < 20; i++) await asked.details("images");
  assertEquals(limits.splice(0), [200, 1000]);
  queue.addAfter("a", "1h");
  let searched = 0;
  const { records } = insideOf(queue);
  const used = records.used.bind(records);
  records.used = () => (searched++, used());
  for (let i = 0; i < 20; i++) await asked.details("images", "?search=a");
  assertEquals([limits, searched], [[], 1]);
  await pass(time, 1000);
});

Deno.test("events: a dashboard keeps no timers after it is disposed", async () => {
  using time = new FakeTime();
  const queue = newQueue();
  const limits = noteLimits(queue);
  const asked = new Asked({ queues: { images: { queue } } });
  const watching = await asked.watch("?queue=images");
  await pass(time, 2000);
  asked[Symbol.dispose]();
  await watching.done;
  limits.splice(0);
  await pass(time, 60_000);
  assertEquals(limits, []);
});
