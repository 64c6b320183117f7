/** Tests of the dashboard with a simulated queue that processes share, whose server may be unavailable. */

import { assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { loadConfig } from "@workqueue/core";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Returns a stand-in for a queue that processes share, with the members that the dashboard uses. */
function remote(
  {
    processing = 1,
    more = [] as readonly string[],
    keyOf = undefined as ((item: string) => string) | undefined,
    keepsGivenUp = false,
    groups = undefined as readonly string[] | undefined,
    onRead = () => {},
  } = {},
) {
  const calls: string[] = [];
  const waiting = new Set(["a/1", "a/2", "b/1", ...more]); // in the order in which they are due
  let server: "up" | "down" | "silent" | "stopped" = "up";
  let goOn = () => {};
  let goesOn = Promise.resolve();
  const call = async <R>(name: string, answer: () => R): Promise<R> => {
    calls.push(name);
    if (server === "silent") await new Promise(() => {});
    if (server === "stopped") await goesOn;
    if (server === "down") throw new Error("connect ECONNREFUSED");
    return answer();
  };
  let paused = false;
  const numbers = { processing, handedOut: 20, failed: 5 };
  const queue = {
    name: "orders",
    engine: "redis",
    keyOf,
    add: () => Promise.resolve(),
    snapshot: ({ limit = 100 } = {}) =>
      call(`snapshot ${limit}`, () => ({
        ...{
          name: "orders",
          ready: 7,
          blocked: 0,
          delayed: waiting.size,
          processing: numbers.processing,
          paused,
          failing: 2,
          givenUp: 1,
        },
        oldestReadyMs: 4321.7,
        totals: {
          added: 30,
          handedOut: numbers.handedOut,
          failed: numbers.failed,
          givenUp: 1,
          givenUpFor: { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 1, limiter: 0 },
        },
        readyItems: [{ item: "c/1", priority: 0 }].slice(0, limit),
        delayedItems: Array.from(waiting, (item) => ({ item, priority: 0, dueInMs: 1000 })).slice(0, limit),
        processingItems: [{ item: "d/1", priority: 0, addedAgain: false }].slice(0, limit),
        failingItems: [
          { item: "a/1", attempts: 2, error: "Error: first", dueInMs: 1000 },
          { item: "d/1", attempts: 4, error: "Error: most" },
          ...more.slice(-1).filter((item) => waiting.has(item)).map((item) => ({
            item,
            attempts: 2,
            error: "Error: last",
            dueInMs: 5000,
          })),
        ].slice(0, limit),
        ...groups && {
          blockedGroups: groups.slice(0, limit).map((group) => ({
            ...{ group, reason: "rate", resumesInMs: 9 },
            get blocked() {
              onRead();
              return 1;
            },
          })),
        },
      })),
    pause: () => call("pause", () => void (paused = true)),
    resume: () => call("resume", () => void (paused = false)),
    promoteDelayed: (item: string) => call(`promoteDelayed ${item}`, () => waiting.delete(item)),
    cancelDelayed: (item: string) => call(`cancelDelayed ${item}`, () => waiting.delete(item)),
    forget: (item: string) => call(`forget ${item}`, () => {}),
    ...groups && {
      pauseGroup: (group: string, ms: number) => call(`pauseGroup ${group} ${ms}`, () => {}),
      resumeGroup: (group: string) => call(`resumeGroup ${group}`, () => {}),
    },
    ...keepsGivenUp && {
      givenUp: () => call("givenUp", () => ({ items: [], total: 1, dropped: 0 })),
      redriveProgress: () => call("redriveProgress", () => undefined),
      ...{ redrive() {}, stopRedrive() {}, discard() {} },
    },
  };
  /** Changes the state of the server. Returns a function that lets a stopped server answer its open calls. */
  const is = (state: typeof server) => {
    server = state;
    if (state === "stopped") goesOn = new Promise((resolve) => goOn = resolve);
    return goOn;
  };
  return { queue: queue as never, calls, numbers, is };
}

async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    time.tick(100);
    await flush();
  }
}

Deno.test("shared queue: one call returns the state of all processes", async () => {
  const { queue, calls } = remote();
  const config = loadConfig({ queues: { orders: { throttle: { rate: 10, burst: 5 } } } });
  using asked = new Asked({ queues: { shown: { queue } }, config });
  const row = await asked.row();
  assertEquals([row.engine, row.verdict, row.workers, row.oldestReadyMs], ["redis", "healthy", null, 4322]);
  assertEquals(row.counts, { ready: 7, blocked: 0, delayed: 3, processing: 1, failing: 2 });
  const details = await asked.details("shown");
  assertEquals(details.failingItems, [
    { key: "d/1", attempts: 4, error: "Error: most", ago: null, dueInMs: null, decidedBy: null },
    {
      key: "a/1",
      attempts: 2,
      error: "Error: first",
      ago: null,
      dueInMs: 1000,
      decidedBy: details.limiter!.inside[0]!.path,
    },
  ]);
  assertEquals(details.runningItems, [{ key: "d/1", attempt: null, for: null }]);
  assertEquals(details.givenUpFor, { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 1, limiter: 0 });
  assertEquals(details.throttle, { rate: 10, burst: 5, tokens: null, resumesInMs: 0 });
  assertEquals(details.can, ["pause", "retry", "takeBack"]);
  assertEquals(Object.keys(details.cannot), ["concurrency", "throttle", "cancel"]);
  assertEquals(await asked.post("api/queues/shown/cancel", { key: "d/1" }), [
    422,
    "The queue has no method 'cancel'.",
  ]);
  assertEquals(new Set(calls), new Set(["snapshot 0", "snapshot 200", "snapshot 1000"]));
});

Deno.test("shared queue: throttles are those of this process, the config sets their limits, and there are no groups", async () => {
  const { queue } = remote();
  const config = loadConfig({
    throttles: { slots: { type: "concurrency", limit: 4 }, pace: { rate: 1, burst: 2 } },
    queues: { orders: { throttle: "slots" } },
  });
  using asked = new Asked({ queues: { shown: { queue } }, config });
  const { throttles } = await asked.state();
  assertEquals(throttles.map(({ name, engine, state, queues }) => [name, engine, state, queues]), [
    ["slots", "redis", "0 of 4 running", ["shown"]],
    ["pace", "memory", "", []],
  ]);
  const { throttleLimit, cannot, blockedGroups } = await asked.details("shown");
  assertEquals([throttleLimit, blockedGroups], [null, null]);
  assertEquals(await asked.post("api/queues/shown/throttle", { limit: 5 }), [422, cannot.throttle]);
  assertEquals((await asked.post("api/queues/shown/resume-group", { group: "a" }))[0], 422);
});

const GROUP_PAUSED = 'The group "g/1" is paused for 1 min: its ready items are blocked, and running handlers continue.';

Deno.test("shared queue: its groups are those of the latest answer, and unknown before the first", async () => {
  using time = new FakeTime();
  const long = "g".repeat(1000);
  const { queue, calls, is } = remote({ groups: [long, ...Array.from({ length: 1200 }, (_, i) => `g/${i}`)] });
  is("down");
  using asked = new Asked({ queues: { orders: { queue } } });
  const post = (action: string, body: object) => asked.post(`api/queues/orders/${action}`, body);
  assertEquals((await asked.details("orders")).blockedGroups, null);
  assertMatch((await post("pause-group", { group: "a", duration: "1m" }))[1], /ECONNREFUSED$/);

  is("up");
  time.tick(1000);
  const list = async (query = "") => (await asked.details("orders", query)).blockedGroups!;
  const { count, groups: [first, second] } = await list();
  assertEquals([count, first!.name.length], [null, 500]);
  assertEquals(second, { name: "g/0", reason: "rate", blocked: 1, resumesInMs: 9 });
  assertEquals((await list("?search=G/99")).groups.map(({ name }) => name), [
    "g/99",
    ...Array.from({ length: 9 }, (_, i) => `g/99${i}`),
  ]);
  calls.splice(0);
  assertEquals((await post("pause-group", { group: "g/1", duration: "1m" }))[1], GROUP_PAUSED);
  assertEquals((await post("resume-group", { group: first!.name }))[0], 200);
  assertEquals(calls.filter((call) => call.includes("Group ")), ["pauseGroup g/1 60000", `resumeGroup ${long}`]);
});

Deno.test("shared queue: its groups are listed anew after each answer, however long the list took before", async () => {
  using time = new FakeTime();
  const groups = ["a"];
  const { queue } = remote({ groups, onRead: () => void time.tick(100) });
  using asked = new Asked({ queues: { orders: { queue } } });
  const list = async () => {
    let names: string[] | undefined;
    void asked.details("orders").then(({ blockedGroups }) => names = blockedGroups!.groups.map(({ name }) => name));
    while (names === undefined) await time.tickAsync(1);
    return names;
  };
  assertEquals(await list(), ["a"]);
  groups.push("b");
  time.tick(1000);
  assertEquals(await list(), ["a", "b"]);
});

Deno.test("shared queue: it can be paused and resumed, and its items can be retried and taken back", async () => {
  const { queue, calls } = remote();
  using asked = new Asked({ queues: { orders: { queue } } });
  assertMatch((await asked.post("api/queues/orders/pause"))[1], /^The queue "orders" is paused/);
  assertEquals((await asked.row()).verdict, "paused");
  assertEquals(await asked.post("api/queues/orders/resume"), [200, 'The queue "orders" is resumed.']);
  assertEquals((await asked.row()).verdict, "healthy");
  calls.splice(0);
  assertEquals(await asked.post("api/queues/orders/retry", { search: "a/" }), [200, "2 items are ready now."]);
  assertEquals((await asked.post("api/queues/orders/take-back", { key: "b/1" }))[0], 200);
  const acted = calls.filter((call) => !call.startsWith("snapshot"));
  assertEquals(acted, ["promoteDelayed a/1", "promoteDelayed a/2", "cancelDelayed b/1", "forget b/1"]);
});

/** Keys of more items than the server lists. The item that is due last is listed as failing. */
const MORE = [...Array.from({ length: 2000 }, (_, i) => `more/${i}`), "fails"];

Deno.test("shared queue: however many items are delayed, an item is retried or taken back by its text", async () => {
  const { queue, calls } = remote({ more: MORE });
  using asked = new Asked({ queues: { orders: { queue } } });
  await asked.details("orders");
  calls.splice(0);
  assertEquals(await asked.post("api/queues/orders/retry", { key: "more/1999" }), [200, "1 item is ready now."]);
  assertMatch((await asked.post("api/queues/orders/take-back", { key: "fails" }))[1], /^1 item is taken back/);
  assertEquals(await asked.post("api/queues/orders/retry", { key: "more/1999" }), [
    200,
    '"more/1999" is not delayed: nothing was done.',
  ]);
  const acted = calls.filter((call) => !call.startsWith("snapshot"));
  assertEquals(calls.includes("snapshot 1000"), false);
  assertEquals(acted, ["promoteDelayed more/1999", "cancelDelayed fails", "forget fails", "promoteDelayed more/1999"]);
});

Deno.test("shared queue: a shortened text is found among the listed items", async () => {
  const long = "x".repeat(1000);
  const { queue } = remote({ more: [long] });
  using asked = new Asked({ queues: { orders: { queue } } });
  const key = (await asked.details("orders")).delayedItems.at(-1)!.key;
  assertEquals(key.length, 500);
  assertEquals(await asked.post("api/queues/orders/retry", { key }), [200, "1 item is ready now."]);
});

for (const [kind, options] of [["key", {}], ["text", { keyText: (item: string) => item }]] as const) {
  Deno.test(`shared queue: by their ${kind}, items are found that are due first or listed as failing`, async () => {
    const { queue } = remote({ more: MORE, ...kind === "key" && { keyOf: (item) => item } });
    using asked = new Asked({ queues: { orders: { queue, ...options } } });
    assertEquals(await asked.post("api/queues/orders/retry", { key: "fails" }), [200, "1 item is ready now."]);
    assertEquals(await asked.post("api/queues/orders/retry", { key: "more/1999" }), [
      200,
      '"more/1999" is not among the 1,000 items checked, and 1,003 more items are delayed: nothing was done.',
    ]);
  });
}

Deno.test("shared queue: a search reports how many items it has checked", async () => {
  using _time = new FakeTime(); // in real time, a search on a busy machine could reach its time limit
  const { queue } = remote({ more: MORE });
  using asked = new Asked({ queues: { orders: { queue } } });
  const matching = async (search: string) => (await asked.details("orders", `?search=${search}`)).matching;
  assertEquals([await matching("more/1999"), await matching("more/99"), await matching("fails")], [0, 8, 1]);
  assertEquals((await asked.details("orders")).matching, 1001);
  assertEquals(await asked.post("api/queues/orders/retry", { search: "more/1999" }), [
    200,
    "Nothing matches among the 1,001 items checked, and 1,003 more items are delayed: nothing was done.",
  ]);
  assertEquals(await asked.post("api/queues/orders/retry", { search: "more/99" }), [
    200,
    "8 items are ready now. 1,003 more items are delayed and were not checked.",
  ]);
  assertEquals(await asked.post("api/queues/orders/take-back", { search: "" }), [
    200,
    "1,001 items are taken back, and will not run unless added again. 995 more items are delayed and were not checked.",
  ]);
});

Deno.test("shared queue: the page follows a server that refuses, is silent, or comes back", async () => {
  using time = new FakeTime();
  const { queue, is } = remote();
  using asked = new Asked({ queues: { orders: { queue } } });
  await flush();
  is("down");
  await pass(time, 5000);
  assertEquals((await asked.verdict())[0], "unknown");
  assertMatch((await asked.verdict())[1], /^The queue has not responded for .*: Error: connect ECONNREFUSED$/);
  assertEquals((await asked.row()).counts.ready, 7); // the count is from the server's last answer
  const [status, error] = await asked.post("api/queues/orders/pause");
  assertEquals([status, error], [422, "Failed, or only partly done: Error: connect ECONNREFUSED"]);

  is("up");
  await pass(time, 5000);
  assertEquals((await asked.verdict())[0], "healthy");

  const watching = await asked.watch();
  is("silent");
  await pass(time, 1000);
  await watching.take();
  await pass(time, 5000);
  const events = await watching.take();
  assertEquals(events.length >= 4, true); // the events continue
  assertEquals(events.at(-1)!.data.queues[0].verdict, "unknown");
  await pass(time, 20_000);
  const details = asked.details("orders");
  await pass(time, 1000); // reaches the time limit for the answer
  const { time: times, ready } = (await details).history;
  assertEquals(ready.map((number) => number === null ? "-" : "x").join(""), "x-x----");
  assertEquals(times.every((at, i) => i === 0 || at - times[i - 1]! >= 4000), true);
  await watching.end();
});

Deno.test("shared queue: while a server is silent, everything else is updated each second, and no viewer waits forever", async () => {
  using time = new FakeTime();
  const { queue, is } = remote({ keepsGivenUp: true });
  using asked = new Asked({ queues: { orders: { queue } } });
  await flush();
  is("silent");
  const watching = await asked.watch("?queue=orders&search=a");
  await pass(time, 1000);
  await watching.take();
  await pass(time, 5000);
  const names = (await watching.take()).map(({ event }) => event);
  assertEquals(names.filter((name) => name === "state").length, 5);
  assertEquals(names.filter((name) => name === "queue").length >= 4, true);

  const details = asked.details("orders", "?search=b");
  await pass(time, 2000);
  assertEquals([(await details).matching, (await details).verdict], [null, "unknown"]);

  const paused = asked.post("api/queues/orders/pause");
  await pass(time, 10_000);
  assertEquals(await paused, [
    503,
    'The queue "orders" has not responded for 8 s: the action may have been done, or may be done later.',
  ]);
  const retried = asked.post("api/queues/orders/retry", { search: "a" });
  await pass(time, 10_000);
  assertEquals((await retried)[0], 503);
  await watching.end();
});

Deno.test("shared queue: while a server hangs, values are unknown at the times of its samples, and durations only grow", async () => {
  using time = new FakeTime();
  const { queue, is } = remote();
  using asked = new Asked({ queues: { orders: { queue } } });
  await flush();
  const began = Date.now();
  const watching = await asked.watch();
  await pass(time, 10_000);
  const goesOn = is("stopped");
  await pass(time, 40_000);
  is("down");
  goesOn(); // the open calls fail now
  await pass(time, 2000);
  is("up");
  await pass(time, 8000);

  const { history } = await asked.details("orders");
  const times = history.time.map((at) => Math.round((at - began) / 1000));
  assertEquals(times, [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60]);
  assertEquals(history.ready.map((number) => number === null ? "-" : "x").join(""), "xxx--------xx");
  const away = (await watching.take()).flatMap(({ data }) => {
    const [, number, unit] = / not responded for ([\d.]+) (ms|s)/.exec(data.queues[0].reason) ?? [];
    return number === undefined ? [] : [Number(number) * (unit === "s" ? 1000 : 1)];
  });
  assertEquals(away, [...away].sort((a, b) => a - b));
  assertEquals([away.length >= 38, away.at(-1)! > 40_000], [true, true]);
  await watching.end();
});

Deno.test("shared queue: a pause does not count as time in which nothing was handed out", async () => {
  using time = new FakeTime();
  const { queue } = remote({ processing: 0 });
  using asked = new Asked({ queues: { orders: { queue } } });
  await flush();
  await asked.post("api/queues/orders/pause");
  await pass(time, 60_000);
  await asked.post("api/queues/orders/resume");
  await pass(time, 20_000);
  assertEquals((await asked.verdict())[0], "healthy");
  await pass(time, 20_000);
  assertEquals((await asked.verdict())[0], "stuck");
});

Deno.test("shared queue: the attempts of all processes count when they have ended", async () => {
  using time = new FakeTime();
  const { queue, numbers } = remote({ processing: 0 });
  using asked = new Asked({ queues: { orders: { queue } } });
  await flush();
  Object.assign(numbers, { handedOut: 34, processing: 4, failed: 10 }); // 4 of the 14 new attempts are still running
  await pass(time, 5000);
  const [verdict, reason] = await asked.verdict();
  assertEquals([verdict, reason.slice(0, 54)], ["failing", '5 of 10 attempts failed in the last 5 s, for example "']);
});

Deno.test("shared queue: failing items that the server lists are selected by error, and the rest are counted", async () => {
  using _time = new FakeTime();
  const { queue, calls } = remote({ more: MORE });
  using asked = new Asked({ queues: { orders: { queue } } });
  const retry = (body: object) => asked.post("api/queues/orders/retry", body);
  assertEquals(await retry({ failing: true, preview: true }), [
    200,
    "2 failing items. 1,003 more items are delayed and were not checked.",
  ]);
  assertEquals(
    (await retry({ search: "", preview: true }))[1].split(".")[0],
    "2 failing items and 999 items " +
      "delayed without a failure",
  );
  assertEquals((await retry({ error: "last", group: "fails", preview: true }))[1].split(".")[0], "No delayed item");
  calls.splice(0);
  assertEquals(await retry({ error: "LAST" }), [
    200,
    "1 item is ready now. 1,003 more items are delayed and were not checked.",
  ]);
  assertEquals(await retry({ group: "a", failing: true }), [
    200,
    "1 item is ready now. 1,003 more items are delayed and were not checked.",
  ]);
  assertEquals(calls.filter((call) => !call.startsWith("snapshot")), ["promoteDelayed fails", "promoteDelayed a/1"]);
});

Deno.test("shared queue: errors are grouped while there are viewers, and each attempt is counted once", async () => {
  using time = new FakeTime();
  const { queue } = remote();
  using asked = new Asked({ queues: { orders: { queue } } });
  await asked.details("orders");
  await pass(time, 2000);
  const { errors, errorsUnknown, counts } = await asked.details("orders");
  assertEquals(errors.map(({ message, count, items, keys }) => [message, count, items, keys]), [
    ["Error: first", 1, 1, ["a/1"]],
    ["Error: most", 1, 1, ["d/1"]],
  ]);
  assertEquals([counts.failing, errorsUnknown], [2, 0]);
  assertEquals((await asked.details("orders", "?search=first")).delayedItems.map(({ key }) => key), ["a/1"]);
});

Deno.test("shared queue: attempts that timed out in this process are failures before the server knows", async () => {
  using _time = new FakeTime();
  const { queue } = remote();
  const running = (item: string, attempt: number) => ({ item, attempt, runningMs: 9000, abandonedMs: 4000 });
  const failing = (item: string, attempts: number) => ({ item, attempts, error: "TimeoutError", failedAgoMs: 4000 });
  const pool = {
    ...{ active: 2, concurrency: 2, pause() {}, resume() {}, stop: () => Promise.resolve() },
    snapshot: () => ({
      ...{ active: 2, abandoned: 2, concurrency: 2, paused: false },
      runningItems: [running("e/1", 1), running("d/1", 5)],
      failingItems: [failing("e/1", 1), failing("d/1", 5)],
    }),
  };
  using asked = new Asked({ queues: { orders: { queue, pool: pool as never } } });
  const { counts, failingItems, runningItems, abandoned, errors } = await asked.details("orders");
  assertEquals([counts.failing, abandoned], [3, 2], "the server knows of earlier failures of d/1");
  assertEquals(failingItems.map(({ key, attempts, error, abandonedFor }) => [key, attempts, error, abandonedFor]), [
    ["d/1", 5, "TimeoutError", 4000],
    ["a/1", 2, "Error: first", undefined],
    ["e/1", 1, "TimeoutError", 4000],
  ]);
  assertEquals(runningItems, [
    { key: "e/1", attempt: 1, for: 9000, abandonedFor: 4000 },
    { key: "d/1", attempt: 5, for: 9000, abandonedFor: 4000 },
  ]);
  assertEquals(errors[0]!.message, "TimeoutError");
});
