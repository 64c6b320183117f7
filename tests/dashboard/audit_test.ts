/** Tests of the list of acts: what was steered, when, and by whom. */

import { assertEquals, assertMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createDefaultItemLimiter, createRateLimitingQueue, loadConfig, runWorkers } from "@workqueue/core";
import { type Act, allowToken, type DashboardOptions, type SteerEvent } from "@workqueue/dashboard";
import { Asked } from "./dashboards.ts";

/** Opens a dashboard for a queue, and records what `onSteer` receives. */
function open(options: Partial<DashboardOptions> = {}) {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  const pool = runWorkers(queue, () => {});
  const events: SteerEvent[] = [];
  const asked = new Asked({ queues: { images: { queue, pool } }, onSteer: (event) => events.push(event), ...options });
  return {
    ...{ asked, queue, pool, events },
    acts: async (): Promise<Act[]> => (await (await asked.get("api/audit")).json()).acts,
    async [Symbol.asyncDispose]() {
      asked[Symbol.dispose]();
      queue.shutDown();
      await pool.stop();
    },
  };
}

Deno.test("audit: it lists each act with its time and user, newest first", async () => {
  using time = new FakeTime();
  await using opened = open({ control: (request) => request.headers.get("x-user") ?? false });
  const { asked, events, acts } = opened;
  const begun = Date.now();
  await asked.post("api/queues/images/concurrency", { concurrency: 7 }, { "x-user": "alice" });
  time.tick(1000);
  await asked.post("api/queues/images/take-back", { search: "a/" }, { "x-user": "bob" });
  const expected = [
    {
      ...{ time: begun + 1000, by: "bob", queue: "images", action: "take-back", body: { search: "a/" } },
      ...{ message: "No delayed item matches: nothing was done.", isError: false },
    },
    {
      ...{ time: begun, by: "alice", queue: "images", action: "concurrency", body: { concurrency: 7 } },
      ...{ message: "The concurrency is now 7; it was 1.", isError: false },
    },
  ];
  assertEquals(events.toReversed(), expected);
  assertEquals(await acts(), expected.map((event) => ({ ...event, body: JSON.stringify(event.body) })));
  assertEquals((await asked.state()).acts, 2);
});

Deno.test("audit: the name of a user comes from control, or else from view, or is unknown", async () => {
  const names: [DashboardOptions["view"], DashboardOptions["control"], string | null][] = [
    [() => "viewer", () => "steerer", "steerer"],
    [() => Promise.resolve("viewer"), () => true, "viewer"],
    [() => true, () => true, null],
  ];
  for (const [view, control, by] of names) {
    await using opened = open({ view, control });
    await opened.asked.post("api/queues/images/pause");
    assertEquals(opened.events.map((event) => event.by), [by]);
  }
});

Deno.test("audit: a user whose name is empty may neither view nor control anything", async () => {
  await using opened = open({ control: () => "" });
  assertEquals((await opened.asked.post("api/queues/images/pause"))[0], 403);
  await using closed = open({ view: () => "" });
  assertEquals((await closed.asked.get("api/audit")).status, 403);
});

Deno.test("audit: a refused request is not recorded, and an act that fails is recorded", async () => {
  await using opened = open();
  const { asked, pool, events } = opened;
  await asked.post("api/queues/images/concurrency", { concurrency: 0 });
  await asked.post("api/queues/images/throttle", { rate: 1 });
  await asked.post("api/queues/none/pause");
  await asked.post("api/queues/images/pause", "{");
  assertEquals(events, []);
  pool.pause = () => {
    throw new Error("broken");
  };
  assertEquals((await asked.post("api/queues/images/pause"))[0], 422);
  assertEquals(events.map(({ message, isError }) => [message, isError]), [
    ["Failed, or only partly done: Error: broken", true],
  ]);
});

Deno.test("audit: an act that takes too long is listed at once, and again when it ends", async () => {
  using time = new FakeTime();
  let goOn = () => {};
  const none = { ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0, oldestReadyMs: 0 };
  const lists = { readyItems: [], delayedItems: [], processingItems: [], failingItems: [] };
  const givenUpFor = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };
  const totals = { added: 0, handedOut: 0, failed: 0, givenUp: 0, givenUpFor };
  const queue = {
    name: "images",
    engine: "redis",
    add() {},
    snapshot: () => Promise.resolve({ name: "images", ...none, ...lists, paused: false, totals }),
    promoteDelayed: () => Promise.resolve(true),
    cancelDelayed: () => Promise.resolve(true),
    forget: () => Promise.resolve(),
    pause: () => new Promise<void>((resolve) => goOn = resolve),
    resume: () => Promise.resolve(),
  };
  await using opened = open({ queues: { images: { queue } } });
  const answer = opened.asked.post("api/queues/images/pause");
  await time.tickAsync(10_000);
  assertEquals((await answer)[0], 503);
  goOn();
  await time.tickAsync(1);
  assertEquals(opened.events.map(({ isError }) => isError), [true, false]);
  assertMatch(opened.events[0]!.message, /may have been done, or may be done later/);
});

Deno.test("audit: a reload is an act, and its preview is not", async () => {
  const config = loadConfig({ queues: { images: { concurrency: 2 } } });
  const readConfig = () => ({ queues: { images: { concurrency: 3 } } });
  await using opened = open({ config, readConfig });
  const { asked, events } = opened;
  const { instance } = await asked.state();
  const headers = {
    "content-type": "application/json",
    "sec-fetch-site": "same-origin",
    "x-workqueue-instance": instance,
  };
  const preview = await asked.get("api/reload", { method: "POST", headers, body: "{}" });
  const { shown } = await preview.json();
  assertEquals(events, []);
  await asked.post("api/reload", { apply: true, shown });
  assertEquals(events.map(({ queue, action, message }) => [queue, action, message]), [
    [null, "reload", "The config was reloaded: 1 change."],
  ]);
});

Deno.test("audit: a retry is an act, and its preview is not", async () => {
  await using opened = open();
  const { asked, events } = opened;
  await asked.post("api/queues/images/retry", { failing: true, preview: true });
  assertEquals(events, []);
  await asked.post("api/queues/images/retry", { failing: true, preview: false });
  assertEquals(events.map(({ action }) => action), ["retry"]);
});

Deno.test("audit: an onSteer that throws or rejects changes nothing, and is reported once for each act", async () => {
  const { error } = console;
  const lines: string[] = [];
  console.error = (line) => lines.push(line);
  try {
    let fails = () => {
      throw new Error("disk full");
    };
    await using opened = open({ onSteer: () => fails() });
    assertEquals((await opened.asked.post("api/queues/images/pause"))[0], 200);
    fails = () => Promise.reject(new Error("disk full")) as never;
    assertEquals((await opened.asked.post("api/queues/images/resume"))[0], 200);
    assertEquals((await opened.acts()).map(({ isError }) => isError), [false, false]);
  } finally {
    console.error = error;
  }
  assertEquals(lines.length, 2);
  for (const line of lines) assertMatch(line, /^The dashboard failed to call 'onSteer': Error: disk full/);
});

Deno.test("audit: the list keeps 200 acts, and cuts long texts", async () => {
  await using opened = open({ control: () => "x".repeat(10_000) });
  for (let i = 1; i <= 205; i++) await opened.asked.post("api/queues/images/concurrency", { concurrency: i });
  await opened.asked.post("api/queues/images/retry", { search: "y".repeat(10_000) });
  const acts = await opened.acts();
  assertEquals([acts.length, acts[0]!.by!.length, acts[0]!.body.length], [200, 500, 500]);
  assertEquals(acts.at(-1)!.body, '{"concurrency":7}');
  assertEquals((await opened.asked.state()).acts, 206);
});

const TOKEN = "c0ffee00-1111-4222-8333-444455556666";

Deno.test("audit: requests with a wrong token are counted in one row a minute, and not passed to onSteer", async () => {
  using time = new FakeTime();
  await using opened = open({ view: allowToken(TOKEN), control: allowToken(TOKEN) });
  const { asked, events } = opened;
  const right = { headers: { authorization: `Bearer ${TOKEN}` } };
  const listed = async () =>
    (await (await asked.get("api/audit", right)).json()).acts.map((
      { action, by, message }: Act,
    ) => [action, by, message]);
  const guess = async (times: number) => {
    for (let i = 0; i < times; i++) {
      const path = i % 2 === 0 ? "api/state" : "?token=wrong";
      const headers = i % 2 === 0 ? { authorization: "Bearer wrong" } : undefined;
      assertEquals((await asked.get(path, { headers: headers ?? {} })).status, 401);
    }
  };
  await asked.get("api/state"); // has no token, so it isn't a guess
  assertEquals(await listed(), []);
  await guess(1);
  assertEquals(await listed(), [["wrong-token", null, "1 request with a wrong token within a minute"]]);
  time.tick(59_000);
  await guess(499);
  assertEquals(await listed(), [["wrong-token", null, "500 requests with a wrong token within a minute"]]);
  time.tick(1000);
  await guess(2);
  assertEquals(await listed(), [
    ["wrong-token", null, "2 requests with a wrong token within a minute"],
    ["wrong-token", null, "500 requests with a wrong token within a minute"],
  ]);
  assertEquals(events, []);
});
