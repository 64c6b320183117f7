/** A metrics provider of a user: what it must have, and how queues and pools take it. */

import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  adaptMetrics,
  createDefaultItemLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type MetricsProvider,
  runWorkers,
} from "@workqueue/core";
import { SOURCE } from "@workqueue/core/hooks";
import { sourceOf, take } from "../queue_helpers.ts";

/** Returns a provider that counts the calls of each metric. */
function plain(): { readonly provider: MetricsProvider; readonly calls: Map<string, number> } {
  const calls = new Map<string, number>();
  const make = (metric: string) => () => {
    const call = () => void calls.set(metric, (calls.get(metric) ?? 0) + 1);
    return { inc: call, dec: call, observe: call, set: call };
  };
  const provider = {
    ...{ depth: make("depth"), adds: make("adds"), retries: make("retries"), delayed: make("delayed") },
    ...{ queueLatency: make("queueLatency"), workDuration: make("workDuration") },
    ...{ unfinishedWork: make("unfinishedWork"), longestRunningProcessor: make("longestRunningProcessor") },
    ...{ active: make("active"), concurrency: make("concurrency") },
  };
  return { provider, calls };
}

const LAYERS = {
  "create work queue": createWorkQueue<string>,
  "create delaying queue": createDelayingQueue<string>,
  "create rate limiting queue": (options: { name: string; metrics: MetricsProvider }) =>
    createRateLimitingQueue<string>(createDefaultItemLimiter(), options),
};

Deno.test("own metrics: a queue of any layer refuses a provider without adaptMetrics, and names this function", () => {
  for (const [action, create] of Object.entries(LAYERS)) {
    assertThrows(
      () => create({ name: "q", metrics: plain().provider }),
      TypeError,
      `Cannot ${action}: 'metrics' must be a metrics provider, such as InMemoryMetrics, or adaptMetrics(own)`,
    );
  }
});

Deno.test("own metrics: adaptMetrics returns the same object, and queues and pools report to it", async () => {
  const { provider, calls } = plain();
  assertStrictEquals(adaptMetrics(provider), provider);
  assertStrictEquals(adaptMetrics(provider), provider);
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "q", metrics: provider });
  queue.add("a");
  take(queue)[Symbol.dispose]();
  queue.addAfter("b", 1_000_000);
  queue.shutDown();
  assertEquals(Object.fromEntries(calls), {
    ...{ depth: 2, adds: 1, queueLatency: 1, workDuration: 1, retries: 1, delayed: 2 },
  });
  const other = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "q", metrics: provider });
  other.add("a");
  const pool = runWorkers(other, () => {});
  await other.shutDownWithDrain();
  await pool.finished;
  assertEquals([calls.get("active"), calls.get("concurrency")], [2, 2]);
});

Deno.test("own metrics: a provider that lacks a method, or to which no property can be added, is refused", () => {
  const { provider } = plain();
  for (const method of ["depth", "adds", "queueLatency", "workDuration", "unfinishedWork", "retries"]) {
    const partial = { ...provider, [method]: undefined } as unknown as MetricsProvider;
    assertThrows(() => adaptMetrics(partial), TypeError, `Cannot adapt metrics: 'own' must have the method ${method}`);
  }
  assertThrows(() => adaptMetrics(undefined as never), TypeError, "'own' must have the method depth, got undefined");
  assertThrows(() => adaptMetrics(Object.freeze(provider)), TypeError, "'own' must not be frozen or sealed");
  assertStrictEquals(adaptMetrics(Object.freeze(new InMemoryMetrics())).value("workqueue_depth", "q"), undefined);
});

Deno.test("own metrics: a pool whose source has a provider that was not adapted is refused", () => {
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "q" });
  const source = Object.defineProperty(sourceOf(queue), "metrics", { value: plain().provider });
  assertThrows(
    () => runWorkers({ [SOURCE]: () => source }, () => {}),
    TypeError,
    "Cannot run workers: 'metrics' must be a metrics provider, such as InMemoryMetrics, or adaptMetrics(own)",
  );
  queue.shutDown();
});
