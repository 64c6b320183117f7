/** Tests of the dashboard with queues that processes share, on every engine. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import type { RemoteLease } from "@workqueue/engine";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { RemotePlace } from "../contracts/remote_place.ts";
import { onRedis } from "../redis/place.ts";
import { uniqueName } from "../redis/unique_name.ts";
import { fileTest, keepAlive } from "../sqlite/files.ts";
import { inFile } from "../sqlite/place.ts";
import { Asked } from "./dashboards.ts";

const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;

/** Returns the name of the engine in the API. */
function engineOf({ product }: RemotePlace): string {
  return product === "Redis" ? "redis" : "sqlite";
}

for (const test of [onRedis, inFile]) {
  test(
    "dashboard: a queue is shown with the failing, delayed and ready items of all processes",
    async (place) => {
      await using queue = place.open({ name: uniqueName("images"), limiter });
      await queue.addAll(["tenant-7/bad", "tenant-7/2"]);
      let second!: () => void;
      const begun = new Promise<void>((resolve) => second = resolve);
      const pool = runWorkers(queue, (item) => {
        if (item.endsWith("bad")) throw new Error("no such tenant");
        second();
      }, { onError: () => {} });
      await begun;
      await pool.stop();
      await queue.addAll(["tenant-7/3", "tenant-8/4"]);

      using asked = new Asked({ queues: { images: { queue, pool } } });
      const row = await asked.row();
      assertEquals([row.engine, row.counts], [engineOf(place), {
        ready: 2,
        blocked: 0,
        delayed: 1,
        processing: 0,
        failing: 1,
      }]);
      const { failingItems, delayedItems, readyItems, groups, can } = await asked.details("images");
      assertEquals(failingItems.map(({ key, attempts, error, ago }) => [key, attempts, error, ago !== null]), [
        ["tenant-7/bad", 1, "Error: no such tenant", true], // only the process that had the failure knows its time
      ]);
      assertEquals(delayedItems.map(({ key }) => key), ["tenant-7/bad"]);
      assertEquals(readyItems.map(({ key }) => key), ["tenant-7/3", "tenant-8/4"]);
      assertEquals(groups, [{ name: "tenant-7", count: 1 }, { name: "tenant-8", count: 1 }]);
      assertEquals(can, ["pause", "concurrency", "retry", "takeBack", "cancel"]);
    },
  );

  test("dashboard: groups with blocked items are listed, paused and resumed, for all processes", async (place) => {
    const discipline = { type: "fair", separator: "/", maxPerGroup: 1 } as const;
    const name = uniqueName("images");
    await using queue = place.open({ name, limiter, discipline });
    await using other = place.open({ name, limiter, discipline });
    using asked = new Asked({ queues: { images: { queue } } });
    const post = (action: string, body: object) => asked.post(`api/queues/images/${action}`, body);
    const blockedGroups = async (query = "") => {
      const { blockedGroups } = await asked.details("images", query);
      return [
        blockedGroups!.count,
        ...blockedGroups!.groups.map(({ name, reason, blocked }) => [name, reason, blocked]),
      ];
    };
    await queue.addAll(["a/1", "a/2", "a/3", "b/1"]);
    const first = await other.get() as RemoteLease;
    assertEquals(first.item, "a/1");
    assertEquals(await blockedGroups(), [1, ["a", "limit", 2]]);
    assertMatch((await post("pause-group", { group: "b", duration: "1h" }))[1], /^The group "b" is paused for 1 h/);
    assertEquals(await blockedGroups(), [2, ["a", "limit", 2], ["b", "paused", 1]]);
    assertEquals(await blockedGroups("?search=B"), [1, ["b", "paused", 1]]);
    const [b] = (await asked.details("images")).blockedGroups!.groups.slice(1);
    assert(b!.resumesInMs! > 3_500_000 && b!.resumesInMs! <= 3_600_000);
    assertEquals(await post("resume-group", { group: "b" }), [200, 'The group "b" is resumed.']);
    await first.finish();
    assertEquals(await blockedGroups(), [1, ["a", "limit", 1]]);
  });

  test("dashboard: retries that wait for the retry budget are counted, and are the reason", async (place) => {
    const retryBudget = { ratio: 0, minRate: 0 };
    const limiter = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;
    await using queue = place.open({ name: uniqueName("images"), limiter, retryBudget });
    using asked = new Asked({ queues: { images: { queue } } });
    await queue.addRateLimited("a");
    while ((await queue.counts()).blocked === 0);
    const { blockedRetries, reason, counts, oldestReadyMs } = await asked.details("images");
    assertEquals([blockedRetries, counts.blocked, oldestReadyMs !== null], [1, 1, true]);
    assertMatch(reason, /1 retry waits for the retry budget/);
  });

  test("dashboard: a queue without groups has no list of them, and refuses to pause one", async (place) => {
    await using queue = place.open({ name: uniqueName("images"), limiter, onQueueError() {} });
    using asked = new Asked({ queues: { images: { queue } } });
    await queue.add("a/1");
    assertEquals((await asked.details("images")).blockedGroups, null);
    const [status, message] = await asked.post("api/queues/images/pause-group", { group: "a", duration: "1s" });
    assertEquals([status, message], [422, "The queue has no groups that can be paused: its discipline is not fair."]);
  });

  test(
    "dashboard: a pause with a duration ends by itself, but not a newer pause by another process",
    async (place) => {
      const name = uniqueName("images");
      await using queue = place.open({ name, limiter });
      await using other = place.open({ name, limiter });
      using asked = new Asked({ queues: { images: { queue } } });
      const pause = () => asked.post("api/queues/images/pause", { duration: "20ms" });

      await queue.add("a");
      assertMatch((await pause())[1], /is paused for 20 ms/);
      const lease = await other.get(); // waits for the end of the pause
      assertEquals(lease.item, "a");
      if (!lease.shutdown) await lease.finish();

      await pause();
      await other.pause();
      while ((await asked.row()).pauseEndsInMs !== null);
      assertEquals((await other.snapshot()).paused, true);
    },
  );

  test("dashboard: a pause stops every process, and delayed items are retried now or taken back", async (place) => {
    const name = uniqueName("images");
    await using queue = place.open({ name, limiter });
    await using other = place.open({ name, limiter });
    using asked = new Asked({ queues: { images: { queue } } });
    const post = (action: string, body: object = {}) => asked.post(`api/queues/images/${action}`, body);

    assertMatch((await post("pause"))[1], /is paused/);
    await queue.add("a");
    assertEquals([(await other.snapshot()).paused, (await asked.row()).verdict], [true, "paused"]);
    assertEquals(await post("resume"), [200, 'The queue "images" is resumed.']);
    const lease = await other.get();
    assertEquals(lease.item, "a");
    if (!lease.shutdown) await lease.finish();

    for (const item of ["b/1", "b/2", "c/1"]) await queue.addAfter(item, "1h");
    assertEquals(await post("retry", { search: "B/" }), [200, "2 items are ready now."]);
    assertEquals((await post("take-back", { key: "c/1" }))[0], 200);
    const { ready, delayed } = await other.counts();
    assertEquals([ready, delayed], [2, 0]);
  });

  test("dashboard: a delayed item, and one that another process works on, are cancelled", async (place) => {
    const name = uniqueName("images");
    await using queue = place.open({ name, limiter });
    await using other = place.open({ name, limiter });
    const reasons: unknown[] = [];
    await using _pool = runWorkers(other, (_item, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(String(signal.reason));
          reject(signal.reason);
        });
      });
    });
    using asked = new Asked({ queues: { images: { queue } } });
    const cancel = (key: string) => asked.post("api/queues/images/cancel", { key });
    await queue.addAfter("b", "1h");
    await queue.add("a");
    while ((await queue.counts()).processing === 0) await setImmediate();
    assertEquals(await cancel("b"), [200, '"b" is cancelled, and will not run unless added again.']);
    assertMatch((await cancel("a"))[1], /^"a" is cancelled: its handler's signal is aborted/);
    await queue.whenIdle();
    assertEquals([reasons, (await queue.givenUp()).total], [["Error: The item was cancelled"], 0]);
  });

  test("dashboard: a queue of objects is shown by their keys", async (place) => {
    await using queue = place.open<{ id: string }>({ name: uniqueName("orders"), keyOf: ({ id }) => id });
    await queue.addAfter({ id: "order-1" }, "1h");
    using asked = new Asked({ queues: { orders: { queue } } });
    assertEquals((await asked.details("orders")).delayedItems.map(({ key }) => key), ["order-1"]);
    assertEquals(await asked.post("api/queues/orders/retry", { key: "order-1" }), [200, "1 item is ready now."]);
  });

  test("dashboard: an item added by another kind of process doesn't hide the rest", async (place) => {
    const name = uniqueName("orders");
    await using texts = place.open({ name });
    await using queue = place.open<{ id: string }>({ name, keyOf: ({ id }) => id });
    await texts.add("a text");
    const lease = await texts.get();
    await queue.addAfter({ id: "order-1" }, "1h");
    await texts.addAfter("another text", "2h");
    await using pool = runWorkers(queue, () => {});
    const shown: string[][] = [];
    for (const keyText of [undefined, ({ id }: { id: string }) => id.toUpperCase()]) {
      using asked = new Asked({ queues: { orders: { queue, pool, ...keyText && { keyText } } } });
      const { runningItems, delayedItems, verdict } = await asked.details("orders");
      shown.push([...[...runningItems, ...delayedItems].map(({ key }) => key), verdict]);
    }
    if (!lease.shutdown) await lease.finish(); // finish before asserting, because disposal waits for the lease
    assertEquals(shown, [
      ["a text", "order-1", "another text", "healthy"],
      ["a text", "ORDER-1", "another text", "healthy"],
    ]);
  });

  test("dashboard: a failing item that is due behind a thousand others can be retried and taken back", async (place) => {
    interface Order {
      readonly id: string;
    }
    await using queue = place.open<Order>({ name: uniqueName("orders"), limiter, keyOf: ({ id }) => id });
    await using texts = place.open({ name: uniqueName("texts"), limiter });
    await queue.addRateLimited({ id: "bad" });
    await queue.addRateLimited({ id: "worse" });
    const many = Array.from({ length: 1100 }, (_, i) => `${i}`);
    await Promise.all(many.flatMap((id) => [queue.addAfter({ id }, "1m"), texts.addAfter(id, "1m")]));
    await texts.addAfter("last", "1h");
    using asked = new Asked({ queues: { orders: { queue }, texts: { queue: texts } } });
    const { failingItems, matching, counts } = await asked.details("orders");
    assertEquals([failingItems.map(({ key }) => key), matching, counts.delayed], [["bad", "worse"], 1002, 1102]);
    assertEquals(await asked.post("api/queues/orders/retry", { key: "bad" }), [200, "1 item is ready now."]);
    assertEquals((await asked.post("api/queues/orders/take-back", { key: "worse" }))[0], 200);
    assertEquals(await asked.post("api/queues/texts/retry", { key: "last" }), [200, "1 item is ready now."]);
    const { ready, delayed } = await queue.counts();
    assertEquals([ready, delayed, (await texts.counts()).ready], [1, 1100, 1]);
  });

  test(
    "dashboard: latencies cover the items that this process takes, however old the items are",
    async (place) => {
      const HOUR = 3_600_000;
      const name = uniqueName("images");
      await using queue = place.open({ name, limiter });
      await using other = place.open({ name, limiter });
      await queue.addAll(["a", "b", "c"]);
      await place.makeOlder(name, ["a", "b"], HOUR);
      using asked = new Asked({ queues: { images: { queue } } });
      const isAnHour = (ms: number | null) => assert(ms! > 0.98 * HOUR && ms! < 1.1 * HOUR, `${ms} ms`);
      isAnHour((await asked.row()).oldestReadyMs);

      const lease = await other.get();
      assert(!lease.shutdown);
      await lease.finish();
      assertEquals((await asked.details("images")).latency!.waiting.count, 0);

      const pool = runWorkers(queue, () => {}, { concurrency: 2 });
      await queue.whenIdle();
      await pool.stop();
      const { waiting, work } = (await asked.details("images")).latency!;
      assertEquals([waiting.count, work.count], [2, 2]);
      isAnHour(waiting.p99);
      assert(waiting.p50! < 0.1 * HOUR && work.p99! < 0.1 * HOUR);

      asked[Symbol.dispose]();
      await queue.add("d");
      await (await queue.get() as RemoteLease)[Symbol.asyncDispose]();
      assertEquals((await asked.details("images")).latency!.waiting.count, 2, "nothing is recorded any more");
    },
  );

  test("dashboard: an attempt that timed out fails on the page at once, and is counted once", async (place) => {
    await using queue = place.open({ name: uniqueName("images"), limiter });
    const timedOut = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const pool = runWorkers(queue, () => end.promise, { timeout: 20, onError: () => timedOut.resolve() });
    using asked = new Asked({ queues: { images: { queue, pool } } });
    await queue.add("tenant-7/hangs");
    await timedOut.promise;
    const before = await asked.details("images");
    assertEquals([before.counts.failing, before.counts.processing, before.abandoned], [1, 1, 1]);
    const [failing] = before.failingItems;
    assertEquals([failing!.key, failing!.attempts, failing!.dueInMs], ["tenant-7/hangs", 1, null]);
    assert(failing!.abandonedFor !== undefined && before.runningItems[0]!.abandonedFor !== undefined);
    end.resolve();
    await pool.stop();

    assertEquals(await asked.post("api/queues/images/retry", { error: "did not end", preview: true }), [
      200,
      "1 failing item.",
    ]);
    const after = await asked.details("images");
    assertEquals([after.counts.failing, after.counts.processing, after.abandoned], [1, 0, 0]);
    assertEquals(after.errors.map(({ message, count, items }) => [message, count, items]), [
      ["TimeoutError: The handler did not end within * ms", 1, 1],
    ]);
    assertEquals(await asked.post("api/queues/images/take-back", { failing: true }), [
      200,
      "1 item is taken back, and will not run unless added again.",
    ]);
  });

  test("dashboard: given-up items are listed with their errors, redriven at a rate, and discarded", async (place) => {
    interface Order {
      readonly id: string;
    }
    const open = (name: string) => place.open<Order>({ name, limiter, keyOf: ({ id }) => id });
    const name = uniqueName("orders");
    await using queue = open(name);
    await using worked = open(name);
    let isFixed = false;
    const done: string[] = [];
    const pool = runWorkers(worked, ({ id }) => {
      if (!isFixed) {
        throw new TerminalError(id.startsWith("late") ? `503 after ${id.slice(4)} ms` : `no stock for ${id}`);
      }
      done.push(id);
    }, { onError() {} });
    await worked.addAll(["order/1", "late7", "order/2", "late12", "order/3"].map((id) => ({ id })));
    await worked.whenIdle();
    using asked = new Asked({ queues: { orders: { queue } } });
    const { givenUp } = await asked.details("orders", "?limit=1");
    assertEquals(
      [givenUp!.total, givenUp!.dropped, givenUp!.items.map(({ key, error, reason }) => [key, error, reason])],
      [5, 0, [["order/3", "TerminalError: no stock for order/3", "terminal"]]],
    );
    assertEquals(givenUp!.errors.map(({ message, items }) => [message, items]), [
      ["TerminalError: no stock for *", 3],
      ["TerminalError: 503 after * ms", 2],
    ]);
    assertEquals((await asked.details("orders", "?search=STOCK")).givenUp!.matching, 3);

    isFixed = true;
    const post = (action: string, body: object = {}) => asked.post(`api/queues/orders/${action}`, body);
    assertEquals(await post("redrive", { key: "order/2" }), [200, "The redrive is done: 1 item was added again."]);
    assertEquals(await post("redrive", { error: "TerminalError: 503 after * ms", rate: 0.001 }), [
      200,
      "The redrive has begun, at most 0.001 a second: 1 item was added again, 1 left to check.",
    ]);
    const { givenUp: during } = await asked.details("orders");
    assertEquals(during!.redrive, { redriven: 1, left: 1, running: true, rate: 0.001 });
    assertEquals((await post("redrive", { search: "" }))[0], 422);
    assertEquals((await post("stop-redrive"))[0], 200);
    assertEquals(await post("discard", { search: "STOCK" }), [200, "2 given-up items are discarded."]);
    assertEquals(await post("redrive", { search: "", rate: 1000 }), [
      200,
      "The redrive is done: 1 item was added again.",
    ]);
    await worked.whenIdle();
    assertEquals(done, ["order/2", "late7", "late12"]);
    await pool.stop();
  });

  test("dashboard: throttles are those of this process, and each process's config changes them", async (place) => {
    const name = uniqueName("images");
    const document = {
      throttles: { slots: { type: "concurrency", limit: 4 } },
      queues: { [name]: { throttle: "slots" } },
    };
    const config = loadConfig(document as never);
    await using queue = place.openFrom(config, name);
    await using _pool = config.runWorkers(name, queue, () => {});
    using asked = new Asked({ queues: { images: { queue, pool: _pool } }, config });
    const { throttles } = await asked.state();
    assertEquals(throttles.map(({ name, engine, limit, queues }) => [name, engine, limit, queues]), [
      ["slots", engineOf(place), 4, ["images"]],
    ]);
    const { throttleLimit, cannot } = await asked.details("images");
    assertEquals(throttleLimit, null);
    assertEquals(await asked.post("api/queues/images/throttle", { limit: 5 }), [422, cannot.throttle]);
    assertEquals(await asked.post("api/throttles/slots/throttle", { limit: 5 }), [422, cannot.throttle]);
    assertMatch(cannot.throttle!, /Each process takes the rate from its own config/);
  });
}

fileTest(
  "dashboard: while another program locks the file, the verdict says so, and then recovers",
  async (folder) => {
    using _alive = keepAlive();
    await using queue = folder.open({ callTimeout: 100, onQueueError() {} });
    await queue.add("a");
    using asked = new Asked({ queues: { images: { queue } } });
    assertEquals((await asked.row()).counts.ready, 1);
    const program = new DatabaseSync(folder.path);
    program.exec("BEGIN IMMEDIATE");
    while ((await asked.row()).verdict !== "unknown");
    assertMatch((await asked.row()).reason, /^The queue has not responded for .*: .* another connection has locked it/);
    assertMatch((await asked.post("api/queues/images/pause"))[1], /^Failed, or only partly done: .* has locked it/);
    program.exec("ROLLBACK");
    program.close();
    while ((await asked.row()).verdict === "unknown");
    assertEquals((await asked.post("api/queues/images/pause"))[0], 200);
  },
);
