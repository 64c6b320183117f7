/** Tests of latencies on the dashboard: the histogram, the window, and pools whose latencies are shown. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { Histogram, MAX_ERROR } from "../../packages/dashboard/watch/histogram.ts";
import { LatencyWindow } from "../../packages/dashboard/watch/latency.ts";
import { flush, randomNumbers } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

const PARTS = [0, 0.001, 0.5, 0.9, 0.99, 0.999, 1];

function histogramOf(numbers: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const number of numbers) histogram.add(number);
  return histogram;
}

/** Returns the exact percentile of sorted numbers. */
function exactly(sorted: readonly number[], part: number): number {
  return sorted[Math.max(Math.ceil(part * sorted.length), 1) - 1]!;
}

/** Distributions of times, each as a function of a random number from 0 to 1. */
const DISTRIBUTIONS: Record<string, (random: () => number, i: number) => number> = {
  uniform: (random) => 1000 * random(),
  exponential: (random) => -50 * Math.log(1 - random()),
  "heavy-tailed": (random) => (1 - random()) ** -2,
  "from nanoseconds to years": (random) => 10 ** (24 * random() - 12),
  "two far apart": (random) => random() < 0.9 ? 0.001 : 86_400_000,
  constant: () => 123.456,
  "powers of two": (_, i) => 2 ** (i % 30),
  "just below powers of two": (_, i) => 2 ** (i % 30) * (1 - 2 ** -53),
  "at the bounds of buckets": (_, i) => 2 ** (i % 20) * (1 + (i % 32) / 32),
  "just below the bounds of buckets": (_, i) => 2 ** (i % 20) * (1 + (i % 32 + 1) / 32 - 2 ** -52),
  "mostly zeros": (random) => random() < 0.95 ? 0 : random(),
  increasing: (_, i) => i,
};

for (const [name, next] of Object.entries(DISTRIBUTIONS)) {
  Deno.test(`histogram: percentiles are off by at most 1/64: ${name}`, () => {
    assertEquals(MAX_ERROR, 1 / 64);
    for (const size of [1, 2, 3, 99, 100, 101, 20_000]) {
      const random = randomNumbers(size);
      const numbers = Array.from({ length: size }, (_, i) => next(random, i));
      const histogram = histogramOf(numbers);
      const sorted = numbers.toSorted((a, b) => a - b);
      assertEquals(histogram.count, size);
      for (const part of PARTS) {
        const [found, exact] = [histogram.percentile(part)!, exactly(sorted, part)];
        assert(Math.abs(found - exact) <= exact * MAX_ERROR, `${part} of ${size}: ${found}, exactly ${exact}`);
      }
    }
  });
}

Deno.test("histogram: in whatever order histograms are merged, the result is as if all numbers were in one", () => {
  const random = randomNumbers(28);
  for (let round = 0; round < 50; round++) {
    const parts = Array.from({ length: 4 }, () => {
      const next = Object.values(DISTRIBUTIONS)[Math.floor(random() * 12)]!;
      return Array.from({ length: Math.floor(random() * 50) }, (_, i) => next(random, i));
    });
    const merge = (...histograms: Histogram[]) => {
      const all = new Histogram();
      for (const histogram of histograms) all.merge(histogram);
      return all;
    };
    const [a, b, c, d] = parts.map(histogramOf) as [Histogram, Histogram, Histogram, Histogram];
    const found = [
      merge(a, b, c, d),
      merge(d, c, b, a),
      merge(merge(a, b), merge(c, d)),
      merge(a, merge(b, merge(c, d))),
    ];
    const expected = histogramOf(parts.flat());
    for (const one of found) {
      assertEquals(one.count, expected.count);
      for (const part of PARTS) assertEquals(one.percentile(part), expected.percentile(part));
    }
  }
});

Deno.test("histogram: without numbers there are no percentiles, and a negative time counts as 0", () => {
  assertEquals(new Histogram().percentile(0.5), null);
  assertEquals(histogramOf([-5, 0]).percentile(1), 0);
});

Deno.test("latency window: minutes are dropped when they are fifteen minutes old, and a suspend drops all", () => {
  const window = new LatencyWindow(0);
  for (let now = 0; now < 20 * 60_000; now += 5000) {
    window.advance(now);
    window.waited(now < 5 * 60_000 ? 1000 : 1);
  }
  const full = window.percentiles(20 * 60_000 - 5000);
  assertEquals([full.overMs, full.waiting.count, full.work.count], [15 * 60_000 - 5000, 180, 0]);
  assertEquals([Math.round(full.waiting.p99!), full.work.p50], [1, null]);
  const later = window.percentiles(24 * 60 * 60_000);
  assertEquals([later.overMs, later.waiting.count], [0, 0]);
});

Deno.test("latency: percentiles of waiting and work over the last fifteen minutes, by the pool's real attempts", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 1000 }));
  const tried = new Set<number>();
  const pool = runWorkers(queue, async (item) => {
    await new Promise((resolve) => setTimeout(resolve, [50, 51, 52].includes(item) ? 2000 : 100));
    if (item === 7 && !tried.has(item)) {
      tried.add(item);
      throw new Error("once");
    }
  }, { onError: () => {} });
  using asked = new Asked({ queues: { numbers: { queue, pool } } });
  const latency = async () => {
    const { latency } = await asked.details("numbers");
    return latency!;
  };
  const pass = async (ms: number) => {
    for (; ms > 0; ms -= 50) {
      time.tick(50);
      await flush();
    }
  };
  await flush();
  assertEquals(await latency(), {
    overMs: 0,
    waiting: { count: 0, p50: null, p90: null, p99: null },
    work: { count: 0, p50: null, p90: null, p99: null },
  });
  for (let item = 0; item < 100; item++) queue.add(item);
  await pass(17_000);
  // Item n waited for n attempts of 100 ms, three of which took 2 s. Item 7 failed, was delayed until 1.8 s, and then
  // waited for 13.9 s until all other items were done.
  const first = await latency();
  assertEquals([first.overMs, first.waiting.count, first.work.count], [17_000, 101, 101]);
  const isNear = (found: number | null, exact: number) =>
    assert(Math.abs(found! - exact) <= exact * MAX_ERROR, `${found}, exactly ${exact}`);
  isNear(first.waiting.p50, 5000);
  isNear(first.waiting.p90, 14_600);
  isNear(first.waiting.p99, 15_500);
  isNear(first.work.p50, 100);
  isNear(first.work.p90, 100);
  isNear(first.work.p99, 2000);

  await pass(15 * 60_000);
  queue.add(200);
  await pass(1000);
  const last = await latency();
  assertEquals([last.waiting, last.work.count], [{ count: 1, p50: 0, p90: 0, p99: 0 }, 1]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("latency: for a queue that doesn't report its times, no latency is known", async () => {
  const inner = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const queue = Object.create(
    inner,
    Object.fromEntries(
      ["add", "addAfter", "addRateLimited", "snapshot", "cancelDelayed", "forget"].map((name) => [name, {
        value: (inner[name as "add"] as () => void).bind(inner),
      }]),
    ),
  );
  Object.defineProperty(queue, Symbol.for("workqueue.inspection"), { value: undefined });
  for (const name of ["name", "keyOf", "clock", "delayed", "shuttingDown"] as const) {
    Object.defineProperty(queue, name, { value: inner[name] });
  }
  using asked = new Asked({ queues: { theirs: { queue } } });
  inner.add("a");
  const { latency, oldestReadyMs } = await asked.details("theirs");
  assertEquals([latency, oldestReadyMs], [null, null]);
});

Deno.test("latency: a disposed dashboard records nothing more", async () => {
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  const asked = new Asked({ queues: { images: { queue } } });
  queue.add("a");
  queue.tryGet();
  asked[Symbol.dispose]();
  queue.add("b");
  queue.tryGet();
  using again = new Asked({ queues: { images: { queue } } });
  assertEquals([
    (await asked.details("images")).latency!.waiting.count,
    (await again.details("images")).latency!.waiting.count,
  ], [1, 0]);
});
