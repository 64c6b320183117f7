/** Queues of a document that name one limiter share its buckets, and each counts its own failures. */

import { assertEquals } from "@std/assert";
import { type LimiterConfig, loadConfig } from "@workqueue/core";
import fc from "fast-check";
import { HandClock } from "../helpers.ts";
import { takeAll } from "../queue_helpers.ts";

const EXPONENTIAL = { type: "exponential", baseDelay: 10, maxDelay: 640 } as const;

/** Limiters without a bucket. They may refer to the limiter `inner`. */
const LIMITERS: Readonly<Record<string, LimiterConfig | string>> = {
  "exponential": EXPONENTIAL,
  "fast-slow": { type: "fast-slow", fastDelay: 10, slowDelay: 50, maxFastAttempts: 2 },
  "steps": { type: "steps", delays: [10, 20, 30] },
  "name": "inner",
  "max-of": { type: "max-of", limiters: ["inner", { type: "steps", delays: [5, 100] }] },
  "max-wait": { type: "max-wait", limiter: "inner", maxDelay: 40 },
  "jitter": { type: "jitter", limiter: "inner", spread: 0 },
  "ignore-early": { type: "ignore-early", limiter: "inner" },
  "per-group": { type: "per-group", separator: "/", limiter: EXPONENTIAL },
  "all": {
    type: "ignore-early",
    limiter: {
      type: "max-of",
      limiters: ["inner", {
        type: "per-group",
        separator: "/",
        limiter: { type: "max-wait", limiter: EXPONENTIAL, maxDelay: 40 },
      }],
    },
  },
};

/** Returns a limiter in which each reference is replaced, so that it shares nothing. */
function inlined<C>(config: C): C {
  if (config === "inner") return EXPONENTIAL as C;
  if (Array.isArray(config)) return config.map(inlined) as C;
  if (typeof config !== "object" || config === null) return config;
  return Object.fromEntries(Object.entries(config).map(([option, value]) => [option, inlined(value)])) as C;
}

const steps = fc.array(
  fc.record({
    do: fc.constantFrom("fail", "fail", "succeed", "wait", "wait", "reload"),
    queue: fc.constantFrom("images", "videos"),
    key: fc.constantFrom("a/1", "a/2", "b/1"),
    ms: fc.constantFrom(1, 10, 40, 200),
  }),
  { minLength: 5, maxLength: 40 },
);
type Steps = typeof steps extends fc.Arbitrary<infer S> ? S : never;

/** Carries out steps with two queues. Returns the delays and the counts. */
async function traceOf(steps: Steps, document: (seed: number) => object): Promise<unknown[]> {
  const clock = new HandClock();
  const config = loadConfig(document(0), { clock });
  const queues = { images: config.queue<string>("images"), videos: config.queue<string>("videos") };
  const trace: unknown[] = [];
  for (const [i, step] of steps.entries()) {
    const queue = queues[step.queue as keyof typeof queues];
    if (step.do === "fail") queue.addRateLimited(step.key);
    else if (step.do === "succeed") queue.forget(step.key);
    else if (step.do === "reload") config.reload(document(i));
    else await clock.advance(step.ms);
    const delayed = queue.snapshot().delayedItems.map(({ item, dueInMs }) => `${item} in ${dueInMs}`);
    trace.push([takeAll(queue), delayed, ["a/1", "a/2", "b/1"].map((key) => queue.numRequeues(key))]);
  }
  for (const queue of Object.values(queues)) queue.shutDown();
  return trace;
}

for (const [name, limiter] of Object.entries(LIMITERS)) {
  Deno.test(`queues that name one limiter count as if each had its own: ${name}`, async () => {
    const options = (seed: number) => ({ maxRetries: seed, forgetAfter: 50 + seed });
    const shared = (seed: number) => ({
      limiters: { inner: EXPONENTIAL, retry: limiter },
      queues: { images: { limiter: "retry", ...options(seed) }, videos: { limiter: "retry", ...options(seed) } },
    });
    const own = (seed: number) => ({
      queues: {
        images: { limiter: inlined(limiter), ...options(seed) },
        videos: { limiter: inlined(limiter), ...options(seed) },
      },
    });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        assertEquals(await traceOf(steps, shared), await traceOf(steps, own));
      }),
      { numRuns: 50 },
    );
  });
}

Deno.test("queues that name one limiter share its bucket, and the bucket of each group, also after a reload", () => {
  const bucket = (rate: number) => ({ type: "bucket", rate, burst: 1 });
  const document = (rate: number) => ({
    limiters: {
      retry: { type: "max-of", limiters: [{ ...EXPONENTIAL, baseDelay: 0, maxDelay: 0 }, bucket(rate)] },
      groups: { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: [EXPONENTIAL, bucket(rate)] } },
    },
    queues: {
      images: { limiter: "retry" },
      videos: { limiter: { type: "ignore-early", limiter: "retry" } },
      here: { limiter: "groups" },
      there: { limiter: { type: "max-wait", limiter: "groups", maxDelay: "1h" } },
    },
  });
  const clock = new HandClock();
  const config = loadConfig(document(1), { clock });
  const delayOf = (name: string, key: string) => {
    const queue = config.queue<string>(name);
    queue.addRateLimited(key);
    const [delayed] = queue.snapshot().delayedItems;
    queue.shutDown();
    return delayed?.dueInMs ?? 0;
  };
  assertEquals([delayOf("images", "x"), delayOf("videos", "x"), delayOf("images", "y")], [0, 1000, 2000]);
  assertEquals([delayOf("here", "a/1"), delayOf("there", "a/1"), delayOf("here", "b/1")], [10, 1000, 10]);
  config.reload(document(0.5));
  assertEquals([delayOf("videos", "z"), delayOf("there", "a/2")], [6000, 4000]);
});

Deno.test("a limiter of a document that is used by hand counts separately", () => {
  const config = loadConfig({ limiters: { retry: EXPONENTIAL }, queues: { q: { limiter: "retry" } } });
  const [limiter, queue] = [config.limiter<string>("retry"), config.queue<string>("q")];
  limiter.when("x");
  queue.addRateLimited("x");
  queue.addRateLimited("x");
  assertEquals([limiter.numRequeues("x"), queue.numRequeues("x")], [1, 2]);
  limiter.forget("x");
  assertEquals([limiter.numRequeues("x"), queue.numRequeues("x")], [0, 2]);
  queue.shutDown();
});
