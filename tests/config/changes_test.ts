/** Tests of rule 16: the changes that a reload reports. */

import { assertEquals } from "@std/assert";
import { type ConfigChange, defineLimiter, limiters, loadConfig, type RateLimiter } from "@workqueue/core";
import { HandClock } from "../helpers.ts";

const BACKOFF = { type: "exponential", baseDelay: "5ms", maxDelay: "1m" };
const DEFAULT = {
  type: "max-of",
  limiters: [{ type: "exponential", baseDelay: 5, maxDelay: 1_000_000 }, { type: "bucket", rate: 10, burst: 100 }],
};
const constant: RateLimiter = { when: () => 0, forget() {}, numRequeues: () => 0 };

/** Limiter that has no `update` method. */
const stiff = defineLimiter({
  type: "stiff",
  description: "",
  options: {
    step: { kind: "integer", default: 1, description: "" },
    limiters: { kind: "limiters", default: [], description: "" },
    each: { kind: "limiter", template: true, required: false, description: "" },
    weights: { kind: "weights", required: false, description: "" },
  },
  create: () => ({ ...constant }),
});
const registry = limiters.extend().register(stiff);

/**
 * Returns the changes that a reload reports. Also checks that reloading the old document reports the opposite changes.
 */
function changes(old: object, now: object): ConfigChange[] {
  const config = loadConfig(old, { limiters: registry });
  const there = config.reload(now);
  assertEquals(plain(there), there, "plain data");
  const swap = ({ path, inForce, ...values }: ConfigChange) => ({
    path,
    ...("new" in values && { old: values.new }),
    ...("old" in values && { new: values.old }),
    inForce: isQueue(path) && !("new" in values) ? "now" as const : inForce, // the reverse change adds the queue
  });
  const isQueue = (path: string) => /^\/queues\/[^/]*$/.test(path);
  const byPath = (one: ConfigChange, other: ConfigChange) => one.path < other.path ? -1 : 1;
  const withoutLoss = ({ startsAfresh: _, ...change }: ConfigChange) => change;
  assertEquals(config.reload(old).map(withoutLoss).sort(byPath), there.map(swap).sort(byPath));
  return there;
}

const plain = (data: unknown): unknown => JSON.parse(JSON.stringify(data));

/** Returns the changes between two configs for one limiter. */
const ofLimiter = (old: object | string, now: object | string) =>
  changes({ limiters: { a: old, other: BACKOFF } }, { limiters: { a: now, other: BACKOFF } });

/** Returns the changes between two configs for one queue. */
const ofQueue = (old: object, now: object) =>
  changes({ limiters: { one: BACKOFF, two: BACKOFF }, queues: { q: old } }, {
    limiters: { one: BACKOFF, two: BACKOFF },
    queues: { q: now },
  });

Deno.test("rule 16: a document with the same content changes nothing, however it is written", () => {
  const one = `{
    "limiters": { "b": "a", "a": { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1m" } },
    "queues": { "q": { "limiter": "a", "discipline": { "type": "fair", "separator": "/", "weights": { "x": 1, "y": 2 } } }, "r": {} }
  }`;
  const other = {
    $schema: "elsewhere",
    queues: {
      r: { limiter: DEFAULT },
      q: {
        discipline: { weights: { y: 2, x: 1 }, separator: "/", type: "fair" },
        limiter: "a",
      },
    },
    limiters: { a: { maxDelay: 60_000, type: "exponential", baseDelay: "0.005s" }, b: "a" },
  };
  const config = loadConfig(one);
  for (const document of [one, other, one]) assertEquals(config.reload(document), []);
});

Deno.test("rule 16: each option that changed is reported, durations in milliseconds and defaults filled in", () => {
  assertEquals(ofLimiter(BACKOFF, { ...BACKOFF, baseDelay: "1s" }), [
    { path: "/limiters/a/baseDelay", old: 5, new: 1000, inForce: "now" },
  ]);
  assertEquals(ofQueue({ forgetAfter: "1h" }, { forgetAfter: "2h" }), [
    { path: "/queues/q/forgetAfter", old: 3_600_000, new: 7_200_000, inForce: "now" },
  ]);
  assertEquals(ofQueue({ concurrency: 2, timeout: "1s" }, { concurrency: 4, maxRetries: 0 }), [
    { path: "/queues/q/concurrency", old: 2, new: 4, inForce: "now" },
    { path: "/queues/q/maxRetries", new: 0, inForce: "now" },
    { path: "/queues/q/timeout", old: 1000, inForce: "now" },
  ]);
});

Deno.test("rule 16: an option that applies from the next start is reported as such", () => {
  const fair = { type: "fair", separator: "/" };
  assertEquals(
    ofQueue({ maxSleep: "1s", discipline: fair }, {
      addWhileDelayed: "replace",
      discipline: { ...fair, maxPerGroup: 2 },
    }),
    [
      { path: "/queues/q/maxSleep", old: 1000, inForce: "nextStart" },
      { path: "/queues/q/addWhileDelayed", new: "replace", inForce: "nextStart" },
      { path: "/queues/q/discipline/maxPerGroup", new: 2, inForce: "nextStart" },
    ],
  );
  const priority = { type: "priority", maxHeadStart: "unlimited" };
  assertEquals(ofQueue({ discipline: fair }, { discipline: priority }), [{
    path: "/queues/q/discipline",
    old: { type: "fair", separator: "/" },
    new: { type: "priority", min: -100, max: 100, maxHeadStart: "unlimited" },
    inForce: "nextStart",
  }]);
  assertEquals(ofQueue({ discipline: { ...priority, maxHeadStart: "1m" } }, { discipline: priority }), [
    { path: "/queues/q/discipline/maxHeadStart", old: 60_000, new: "unlimited", inForce: "nextStart" },
  ]);
  assertEquals(ofQueue({}, { discipline: { ...fair, weights: { x: 2 } } })[0]?.new, {
    type: "fair",
    separator: "/",
    weights: { x: 2 },
  });
});

Deno.test("rule 16: added and removed queues are reported whole", () => {
  assertEquals(
    changes({ queues: { "a/b": { timeout: "1s" } } }, {
      queues: { c: { limiter: DEFAULT, throttle: { rate: 1, burst: 2 } } },
    }),
    [
      { path: "/queues/c", new: { limiter: DEFAULT, throttle: { rate: 1, burst: 2 } }, inForce: "nextStart" },
      { path: "/queues/a~1b", old: { limiter: DEFAULT, timeout: 1000 }, inForce: "nextStart" },
    ],
  );
});

Deno.test("rule 16: added limiters, removed limiters and changed types are reported whole, with whether they start afresh", () => {
  const bucket = { type: "bucket", rate: 1, burst: 2 };
  assertEquals(ofLimiter(BACKOFF, bucket), [{
    path: "/limiters/a",
    old: { type: "exponential", baseDelay: 5, maxDelay: 60_000 },
    new: bucket,
    inForce: "now",
    startsAfresh: true,
  }]);
  assertEquals(changes({ limiters: { a: bucket } }, { limiters: { b: bucket } }), [
    { path: "/limiters/b", new: bucket, inForce: "now" },
    { path: "/limiters/a", old: bucket, inForce: "now" },
  ]);
  assertEquals(ofLimiter("other", bucket), [{ path: "/limiters/a", old: "other", new: bucket, inForce: "now" }]);
  assertEquals(ofLimiter(bucket, "other"), [
    { path: "/limiters/a", old: bucket, new: "other", inForce: "now", startsAfresh: true },
  ]);
  assertEquals(ofQueue({ limiter: "one" }, { limiter: "two" }), [
    { path: "/queues/q/limiter", old: "one", new: "two", inForce: "now" },
  ]);
  assertEquals(ofQueue({}, { limiter: "two" }), [
    { path: "/queues/q/limiter", old: DEFAULT, new: "two", inForce: "now", startsAfresh: true },
  ]);
});

Deno.test("rule 16: a change inside nested limiters is reported at its place", () => {
  const around = (...limiters: unknown[]) => ({
    type: "max-wait",
    maxDelay: "1h",
    limiter: { type: "max-of", limiters },
  });
  const bucket = { type: "bucket", rate: 1, burst: 2 };
  assertEquals(ofLimiter(around(BACKOFF, bucket, "other"), around({ ...BACKOFF, maxDelay: "2m" }, "other")), [
    { path: "/limiters/a/limiter/limiters/0/maxDelay", old: 60_000, new: 120_000, inForce: "now" },
    { path: "/limiters/a/limiter/limiters/1", old: bucket, new: "other", inForce: "now", startsAfresh: true },
    { path: "/limiters/a/limiter/limiters/2", old: "other", inForce: "now" },
  ]);
  const groups = (limiter: object) => ({ type: "per-group", separator: "/", limiter });
  assertEquals(ofLimiter(groups(bucket), groups({ ...bucket, rate: 5 })), [
    { path: "/limiters/a/limiter/rate", old: 1, new: 5, inForce: "now" },
  ]);
  assertEquals(ofLimiter(groups(bucket), groups(BACKOFF)), [{
    path: "/limiters/a/limiter",
    old: bucket,
    new: { type: "exponential", baseDelay: 5, maxDelay: 60_000 },
    inForce: "now",
    startsAfresh: true,
  }]);
});

Deno.test("rule 16: a per-group limiter with another separator starts afresh", () => {
  const groups = (separator: string) => ({ type: "per-group", separator, limiter: BACKOFF });
  assertEquals(ofLimiter(groups("/"), groups(":")), [
    { path: "/limiters/a/separator", old: "/", new: ":", inForce: "now", startsAfresh: true },
  ]);
  const fair = (separator: string) => ({ discipline: { type: "fair", separator } });
  assertEquals(ofQueue(fair("/"), fair(":")), [
    { path: "/queues/q/discipline/separator", old: "/", new: ":", inForce: "nextStart" },
  ]);
});

Deno.test("rule 16: if a limiter can't be changed, every option that makes it start afresh says so", () => {
  const made = (options: object) => ({ type: "stiff", ...options });
  const bucket = (rate: number) => ({ type: "bucket", rate, burst: 1 });
  assertEquals(ofLimiter(made({ limiters: [bucket(1)] }), made({ step: 2, limiters: [bucket(3)] })), [
    { path: "/limiters/a/step", old: 1, new: 2, inForce: "now", startsAfresh: true },
    { path: "/limiters/a/limiters/0/rate", old: 1, new: 3, inForce: "now" },
  ]);
  assertEquals(ofLimiter(made({ limiters: [bucket(1)] }), made({ limiters: [bucket(3)] })), [
    { path: "/limiters/a/limiters/0/rate", old: 1, new: 3, inForce: "now" },
  ]);
  assertEquals(ofLimiter(made({ limiters: [] }), made({ limiters: [bucket(3)], weights: { x: 2 } })), [
    { path: "/limiters/a/limiters/0", new: bucket(3), inForce: "now", startsAfresh: true },
    { path: "/limiters/a/weights", new: { x: 2 }, inForce: "now", startsAfresh: true },
  ]);
  assertEquals(ofLimiter(made({ each: bucket(1) }), made({ each: bucket(2) })), [
    { path: "/limiters/a/each/rate", old: 1, new: 2, inForce: "now", startsAfresh: true },
  ]);
  const around = (step: number) => made({ limiters: [made({ step }), bucket(1)] });
  assertEquals(ofLimiter(around(1), around(2)), [
    { path: "/limiters/a/limiters/0/step", old: 1, new: 2, inForce: "now", startsAfresh: true },
  ]);
});

Deno.test("rule 16: the throttle of a queue appears, changes, disappears, and moves to a named bucket", () => {
  const own = { rate: 1, burst: 2 };
  const limiters = { shared: { type: "bucket", rate: 5, burst: 5 } };
  const queue = (throttle?: unknown) => ({ limiters, queues: { q: { throttle } } });
  const path = "/queues/q/throttle";
  assertEquals(changes(queue(), queue(own)), [{ path, new: own, inForce: "now" }]);
  assertEquals(changes(queue(own), queue()), [{ path, old: own, inForce: "now" }]);
  assertEquals(changes(queue(own), queue({ ...own, rate: 3 })), [{
    path: `${path}/rate`,
    old: 1,
    new: 3,
    inForce: "now",
  }]);
  assertEquals(changes(queue(own), queue("shared")), [
    { path, old: own, new: "shared", inForce: "now", startsAfresh: true },
  ]);
});

Deno.test("rule 16: infinity is reported as the text that documents use for it, if there is one", () => {
  const bucket = { type: "bucket", rate: Infinity, burst: 1 };
  const config = loadConfig({ limiters: { a: { ...bucket, rate: 1 } } });
  assertEquals(config.reload({ limiters: { a: bucket } }), [
    { path: "/limiters/a/rate", old: 1, new: Infinity, inForce: "now" },
  ]);
});

Deno.test("rule 16: a queue that was removed and is added again takes effect at once, for its limiter and its pools", async () => {
  const clock = new HandClock();
  const q = { limiter: { type: "exponential", baseDelay: 10, maxDelay: 10 }, concurrency: 2, maxSleep: "1s" };
  const config = loadConfig({ queues: { q } }, { clock });
  const queue = config.queue<string>("q");
  const pool = config.runWorkers("q", queue, () => {});
  config.reload({});
  const added = {
    ...q,
    limiter: { ...q.limiter, baseDelay: 5 },
    concurrency: 3,
    maxSleep: "2s",
    addWhileDelayed: "replace",
  };
  for (const dryRun of [true, false]) {
    const [whole, ...others] = config.reload({ queues: { q: added } }, { dryRun });
    assertEquals([whole!.path, whole!.old, whole!.inForce], ["/queues/q", undefined, "now"]);
    assertEquals(others, [
      { path: "/queues/q/maxSleep", old: 1000, new: 2000, inForce: "nextStart" },
      { path: "/queues/q/addWhileDelayed", new: "replace", inForce: "nextStart" },
    ]);
  }
  assertEquals(pool.concurrency, 3);
  queue.addRateLimited("a");
  assertEquals(queue.snapshot().delayedItems[0]!.dueInMs, 5);
  queue.shutDown();
  await pool.finished;
});
