/** Throttles on the dashboard: their state, their queues, the reason they give, and the control of their limit. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  adaptThrottle,
  createDefaultItemLimiter,
  createRateLimitingQueue,
  loadConfig,
  type RateLimitingQueue,
  runWorkers,
  type Throttle,
  type WorkerPool,
} from "@workqueue/core";
import type { DashboardOptions, ThrottleRow } from "@workqueue/dashboard";
import { createBreakerThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

const limiter = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;

/** Starts the queues of a config. Items that begin with `bad` fail, and items that begin with `long` never end. */
function start(document: object, options: Partial<DashboardOptions> = {}) {
  const config = loadConfig(document);
  const queues: Record<string, { queue: RateLimitingQueue<string>; pool: WorkerPool<string> }> = {};
  for (const name of config.queueNames) {
    const queue = config.queue<string>(name);
    const pool = config.runWorkers(name, queue, (item) => {
      if (item.startsWith("bad")) throw new Error("503 try later");
      if (item.startsWith("long")) return new Promise<void>(() => {});
    }, { onError() {} });
    queues[name] = { queue, pool };
  }
  const asked = new Asked({ queues, config, ...options });
  return {
    ...{ config, queues, asked },
    throttles: async () => (await asked.state()).throttles,
    add(name: string, ...items: string[]) {
      for (const item of items) queues[name]!.queue.add(item);
      return flush();
    },
    [Symbol.dispose]() {
      asked[Symbol.dispose]();
      for (const { queue, pool } of Object.values(queues)) {
        queue.shutDown();
        void pool.stop();
      }
    },
  };
}

/** Returns the members that say what a throttle does. */
const shown = ({ name, type, limit, inUse, state, queues }: ThrottleRow) => [name, type, limit, inUse, state, queues];

Deno.test("throttles: the throttles of a config are listed with types, states and queues, used or not", async () => {
  using _time = new FakeTime();
  using started = start({
    limiters: { tokens: { type: "bucket", rate: 5, burst: 2 } },
    throttles: {
      slots: { type: "concurrency", limit: 3 },
      api: { type: "all-of", throttles: ["slots", "tokens", { type: "breaker", openFor: "20s" }] },
      whole: { type: "all-of", throttles: [{ type: "all-of", throttles: ["pace"] }] },
      spare: { type: "gradient", max: 10 },
      pace: { rate: 1, burst: 1 },
    },
    queues: {
      images: { throttle: "slots", concurrency: 5 },
      texts: { throttle: "api" },
      mails: { throttle: { type: "aimd", min: 2, max: 8 } },
      others: {},
      all: { throttle: "whole" },
    },
  });
  await started.add("images", "long/1", "long/2");
  const throttles = await started.throttles();
  assertEquals(throttles.map(shown), [
    ["slots", "concurrency", 3, 2, "2 of 3 running", ["images", "texts"]],
    ["api", "all-of", 3, 0, "2 of 3 running; closed", ["texts"]],
    ["whole", "all-of", null, 0, "", ["all"]],
    ["spare", null, 1, 0, "0 of 1 running", []],
    ["pace", "bucket", null, null, "", ["all"]],
    ["tokens", "bucket", null, null, "", ["texts"]],
    [null, "aimd", 2, 0, "0 of 2 running", ["mails"]],
  ]);
  const [slots, api, , , pace] = throttles;
  assertEquals([slots!.path, slots!.options], ["/throttles/slots", { limit: "3" }]);
  assertEquals(api!.inside.map(({ path, name, type }) => [path, name, type]), [
    ["/throttles/slots", "slots", "concurrency"],
    ["/limiters/tokens", "tokens", "bucket"],
    ["/throttles/api/throttles/2", null, "breaker"],
  ]);
  assertEquals(api!.inside[2]!.options["openFor"], "20 s");
  assertEquals(pace!.bucket, { rate: 1, burst: 1, tokens: 1, resumesInMs: 0 });
});

Deno.test("throttles: those that allow no start come first, and then those at their limit", async () => {
  using _time = new FakeTime();
  using started = start({
    limiters: { later: limiter },
    throttles: {
      free: { type: "concurrency", limit: 9 },
      full: { type: "concurrency", limit: 1 },
      paused: { rate: 1, burst: 1 },
      open: { type: "breaker", minAttempts: 2 },
    },
    queues: {
      a: { throttle: "full", limiter: "later" },
      b: { throttle: "open", limiter: "later" },
    },
  });
  started.config.bucket("paused").pauseFor("30s");
  await started.add("a", "long/1");
  await started.add("b", "bad/1", "bad/2");
  assertEquals((await started.throttles()).map(({ name, state }) => [name, state]), [
    ["paused", "paused for 30 s"],
    ["open", "open for 10 s: 2 of 2 attempts failed"],
    ["full", "1 of 1 running"],
    ["free", "0 of 9 running"],
  ]);
});

Deno.test("throttles: an open breaker is the reason why the backlog of each of its queues grows", async () => {
  using time = new FakeTime();
  using started = start({
    limiters: { later: limiter },
    throttles: { api: { type: "breaker", minAttempts: 4, openFor: "20s" } },
    queues: { pods: { throttle: "api", limiter: "later" }, nodes: { throttle: "api" } },
  });
  await started.add("pods", "bad/1", "bad/2", "bad/3", "bad/4", "ok/1", "ok/2");
  await started.add("nodes", "ok/1");
  time.tick(8000);
  const row = async (name: string) => (await started.asked.state()).queues.find((row) => row.name === name)!;
  const reason = "api: breaker open for 12 s: 4 of 4 attempts failed";
  assertEquals(
    [(await row("pods")).verdict, (await row("pods")).reason],
    ["failing", `${reason}, for example "bad/4" with Error: 503 try later; 2 items are ready.`],
  );
  assertEquals([(await row("nodes")).verdict, (await row("nodes")).reason], ["paused", `${reason}; 1 item is ready.`]);
  assert((await row("nodes")).guide.endsWith("/the-backend-is-down.md"));
  time.tick(12_000);
  await flush();
  time.tick(1000);
  assertEquals((await row("nodes")).verdict, "busy"); // not stuck: its item has waited for 21 s
});

Deno.test("throttles: a queue is not stuck because of the time for which its breaker was open", async () => {
  using time = new FakeTime();
  const clock = new HandClock();
  const throttle = createBreakerThrottle({ minAttempts: 1, openFor: "40s", clock });
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
  const pool = runWorkers(queue, (item, { attempt }) => {
    if (item === "bad" && attempt === 1) throw new Error("503 try later");
  }, { throttle, onError() {} });
  using asked = new Asked({ queues: { pods: { queue, pool } } });
  queue.add("bad");
  await flush();
  for (const item of ["a", "b"]) queue.add(item);
  const watching = await asked.watch();
  for (let i = 0; i < 39; i++) {
    time.tick(1000);
    await flush();
  }
  assertEquals((await asked.verdict())[1].startsWith("Throttle: open for 40 s: 1 of 1 attempts failed"), true);
  clock.time += 40_000; // the pool asks when its own timer fires
  time.tick(950);
  await flush();
  assertEquals(throttle.snapshot!().state, "probing: 1 of 1 attempts failed");
  for (let i = 0; i < 10; i++) {
    time.tick(1000);
    await flush();
  }
  assertEquals((await asked.row()).verdict, "healthy");
  await watching.end();
  await pool.stop();
});

Deno.test("throttles: the display follows the config when it is reloaded", async () => {
  using time = new FakeTime();
  const document = (throttle: object) => ({ throttles: { api: throttle }, queues: { pods: { throttle: "api" } } });
  using started = start(document({ type: "concurrency", limit: 3 }));
  assertEquals((await started.throttles()).map(shown), [["api", "concurrency", 3, 0, "0 of 3 running", ["pods"]]]);
  started.config.reload(document({ type: "breaker", window: "1m" }));
  time.tick(1000);
  const [api, ...others] = await started.throttles();
  assertEquals([shown(api!), others], [["api", "breaker", null, 0, "closed", ["pods"]], []]);
  assertEquals(api!.options["window"], "1 min");
});

Deno.test("throttles: throttles set in code have no name, and one that throws or reports nothing breaks nothing", async () => {
  const permit = { begin() {}, charge() {}, end() {} };
  const own: Record<string, Throttle> = {
    silent: { acquire: () => permit },
    broken: {
      acquire: () => permit,
      snapshot() {
        throw new Error("broken");
      },
    },
    breaker: createBreakerThrottle(),
  };
  const queues = Object.fromEntries(
    Object.entries(own).map(([name, throttle]) => {
      const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
      return [name, { queue, pool: runWorkers(queue, () => {}, { throttle: adaptThrottle(throttle) }) }];
    }),
  );
  using asked = new Asked({ queues });
  assertEquals((await asked.state()).throttles.map(shown), [
    [null, null, null, null, "", ["silent"]],
    [null, null, null, null, "", ["broken"]],
    [null, null, null, 0, "closed", ["breaker"]],
  ]);
  for (const { queue } of Object.values(queues)) queue.shutDown();
});

Deno.test("throttles: the limit of a concurrency throttle is set for all its queues, within bounds", async () => {
  using _time = new FakeTime();
  using started = start({
    throttles: { slots: { type: "concurrency", limit: 2 } },
    queues: { images: { throttle: "slots", concurrency: 9 }, texts: { throttle: "slots", concurrency: 9 } },
  });
  const { asked } = started;
  await started.add("images", "long/1", "long/2", "long/3");
  await started.add("texts", "long/1", "long/2");
  const set = (body: object) => asked.post("api/queues/images/throttle", body);
  const running = () => ["images", "texts"].map((name) => started.queues[name]!.pool.active);
  assertEquals([running(), (await asked.details("texts")).throttleLimit], [[2, 0], 2]);
  assertEquals(await set({ limit: 4 }), [200, "At most 4 attempts may run at once now; before, 2."]);
  await flush();
  assertEquals([running(), (await asked.details("texts")).throttleLimit], [[3, 1], 4]);
  assertEquals(await set({ limit: 1 }), [
    200,
    "At most 1 attempt may run at once now; before, 4. 4 are running, and continue.",
  ]);
  assertEquals((await started.throttles()).map(({ limit, inUse }) => [limit, inUse]), [[1, 4]]);
  for (
    const [limit, error] of [[0, /'limit' must be an integer from 1/], [1.5, /'limit' must be an integer/]] as const
  ) {
    const [status, message] = await set({ limit });
    assertEquals([status, error.test(message)], [422, true], message);
  }
  const [status, message] = await set({ rate: 5 });
  assertEquals([status, message], [
    422,
    'Cannot change throttle: the body has an unknown member "rate"; the throttle has the type "concurrency": ' +
    "pass 'limit'",
  ]);
  assertEquals(await asked.post("api/queues/images/pause-throttle", { duration: "1s" }), [
    422,
    'Only a bucket can be paused, not a throttle of type "concurrency". Pause the queues "images", "texts" instead.',
  ]);
});

Deno.test("throttles: a limit and a group can't be changed with read-only access, or from another site", async () => {
  const document = {
    throttles: { slots: { type: "concurrency", limit: 2 } },
    queues: { images: { throttle: "slots", discipline: { type: "fair", separator: "/" } } },
  };
  const acts = [["throttle", { limit: 4 }], ["pause-group", { group: "a", duration: "1m" }], ["resume-group", {
    group: "a",
  }]];
  for (
    const [options, headers] of [[{ control: () => false }, {}], [{}, { "sec-fetch-site": "cross-site" }]] as const
  ) {
    using started = start(document, options);
    for (const [action, body] of acts) {
      assertEquals((await started.asked.post(`api/queues/images/${action}`, body, headers))[0], 403);
    }
    const { throttleLimit, blockedGroups } = await started.asked.details("images");
    assertEquals([throttleLimit, blockedGroups], [2, { count: 0, groups: [] }]);
  }
});

Deno.test("throttles: if the limit of a throttle can't be set, the answer says how to change the throttle", async () => {
  using started = start({ queues: { images: { throttle: { type: "breaker" } } } });
  const reason = 'A throttle of type "breaker" is changed in the config: change and reload that.';
  assertEquals((await started.asked.details("images")).cannot, { throttle: reason });
  assertEquals(await started.asked.post("api/queues/images/throttle", { limit: 1 }), [422, reason]);
});

Deno.test("throttles: whatever a snapshot contains, the page gets numbers and a short text", async () => {
  using _time = new FakeTime();
  const nothing = { limit: null, inUse: null, state: "" };
  const cases: [snapshot: () => unknown, shown: Pick<ThrottleRow, "limit" | "inUse" | "state">][] = [
    [() => null, nothing],
    [() => 5, nothing],
    [() => ({
      get limit() {
        throw new Error("a getter");
      },
    }), nothing],
    [() => ({ limit: 5n, inUse: Symbol("1"), state: { toString: null } }), nothing],
    [() => ({ limit: NaN, inUse: "1", state: null }), nothing],
    [() => ({ limit: 2, inUse: 1, state: `two\nlines` }), { limit: 2, inUse: 1, state: "two lines" }],
  ];
  let snapshot: () => unknown;
  const throttle = adaptThrottle({ acquire: () => Infinity, snapshot: () => snapshot() } as unknown as Throttle);
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "code" });
  const pool = runWorkers(queue, () => {}, { throttle });
  queue.add("item");
  for (const [makes, shown] of cases) {
    snapshot = makes;
    using asked = new Asked({ queues: { code: { queue, pool } } });
    const [{ limit, inUse, state }] = (await asked.state()).throttles as [ThrottleRow];
    assertEquals({ limit, inUse, state }, shown);
  }
  snapshot = () => ({ limit: 0, inUse: 1, state: "x".repeat(1e6) });
  using asked = new Asked({ queues: { code: { queue, pool } } });
  assert((await asked.state()).throttles[0]!.state.length <= 500);
  queue.shutDown();
});

Deno.test("throttles: a throttle that is not a bucket can't be paused, and the answer names the queues to pause", async () => {
  const gradient = { type: "gradient", max: 10 };
  using started = start({ queues: { images: { throttle: gradient }, texts: {} } });
  for (const [action, body] of [["pause-throttle", { duration: "1m" }], ["resume-throttle", {}]] as const) {
    assertEquals(await started.asked.post(`api/queues/images/${action}`, body), [
      422,
      'Only a bucket can be paused, not a throttle of type "gradient". Pause the queue "images" instead.',
    ]);
  }
  assertEquals(await started.asked.post("api/queues/texts/pause-throttle", { duration: "1m" }), [
    422,
    "No throttle of this queue is known here. To slow the queue, lower its concurrency.",
  ]);
});

Deno.test("throttles: a bucket doesn't accept a limit, and the answer says what it accepts", async () => {
  using started = start({ queues: { images: { throttle: { rate: 1, burst: 1 } } } });
  assertEquals(await started.asked.post("api/queues/images/throttle", { limit: 8 }), [
    422,
    'Cannot change throttle: the body has an unknown member "limit"; the throttle is a bucket: ' +
    "pass 'rate' and 'burst'",
  ]);
});

Deno.test("throttles: throttles inside an all-of are changed and paused by their names", async () => {
  using _time = new FakeTime();
  const acts: unknown[] = [];
  using started = start({
    limiters: { "a/b": { type: "bucket", rate: 5, burst: 2 } },
    throttles: {
      slots: { type: "concurrency", limit: 3 },
      api: { type: "all-of", throttles: ["slots", "a/b"] },
    },
    queues: { texts: { throttle: "api" } },
  }, { onSteer: ({ queue, throttle, action }) => acts.push([queue, throttle, action]) });
  const { asked } = started;
  assertEquals(
    (await asked.details("texts")).cannot.throttle,
    'A throttle of type "all-of" is changed in the config: change and reload that. ' +
      'Those inside it have rows of their own: "slots", "a/b".',
  );
  assertEquals(await asked.post("api/throttles/slots/throttle", { limit: 1 }), [
    200,
    "At most 1 attempt may run at once now; before, 3.",
  ]);
  assertEquals(await asked.post("api/throttles/a%2Fb/throttle", { rate: 7 }), [
    200,
    "Attempts may now start 7 times a second, 2 at once.",
  ]);
  assertEquals(await asked.post("api/throttles/a%2Fb/pause-throttle", { duration: "30s" }), [
    200,
    "No attempt starts for 30 s.",
  ]);
  const rows = await started.throttles();
  assertEquals(rows.map(({ name, state }) => [name, state]), [
    ["a/b", "paused for 30 s"],
    ["slots", "0 of 1 running"],
    ["api", "0 of 1 running; paused"],
  ]);
  assertEquals(rows[0]!.bucket!.rate, 7);
  assertEquals((await asked.post("api/throttles/a%2Fb/resume-throttle"))[0], 200);
  assertEquals(await asked.post("api/throttles/slot/throttle", { limit: 1 }), [
    404,
    'Not found: this dashboard has no throttle named "slot"; did you mean "slots"?',
  ]);
  assertEquals(await asked.post("api/throttles/slots/pause", {}), [404, "Not found: there is no such action"]);
  assertEquals(await asked.post("api/throttles/slots/pause-throttle", { duration: 1 }), [
    422,
    'Only a bucket can be paused, not a throttle of type "concurrency". Pause the queue "texts" instead.',
  ]);
  assertEquals(acts, [
    [null, "slots", "throttle"],
    [null, "a/b", "throttle"],
    [null, "a/b", "pause-throttle"],
    [null, "a/b", "resume-throttle"],
  ]);
  assertEquals(
    (await asked.post("api/throttles/slots/throttle", { limit: 2 }, { "sec-fetch-site": "cross-site" }))[0],
    403,
  );
});

Deno.test("throttles: an empty bucket has the same state in its snapshot and in the API", async () => {
  using _time = new FakeTime();
  using started = start({
    throttles: { api: { rate: 0, burst: 0 } },
    queues: { images: { throttle: "api" } },
  });
  const { state } = started.config.throttle("api").snapshot!();
  assertEquals([state, (await started.throttles())[0]!.state], ["empty", "empty"]);
});
