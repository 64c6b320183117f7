/**
 * Workloads for the comparison. Each contender performs a workload in the way that its own documentation recommends.
 *
 * @module
 */

import {
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type RateLimiter,
  runWorkers,
  type WorkQueueOptions,
} from "@workqueue/core";
import { NumberHeap } from "../../lib/structures/number_heap.ts";
import { bareMap } from "../bare_map.ts";
import { distinctKeys } from "../keys.ts";
import { noMetrics } from "../metrics.ts";
import { addAllThenTakeAll, addThenTakeEach, addToWaitingWorkers, delayThenTakeAll } from "../passes.ts";
import { StillClock } from "../still_clock.ts";
import { disciplineWorks } from "./disciplines.ts";
import { growthWorks } from "./growth.ts";
import { hotKeyWorks } from "./hot_key.ts";
import { recordingWorks } from "./recordings.ts";
import { CLIENT_GO, clockAlone, type Contender, defineWork, OURS, type Work } from "./row.ts";
import { snapshotWorks } from "./snapshots.ts";

const CONCURRENCY = 10;

const cycle = (options: () => WorkQueueOptions<string>): Contender => (items) => {
  const keys = distinctKeys(items);
  return () => {
    using queue = createWorkQueue<string>(options());
    addAllThenTakeAll(queue, keys);
  };
};

const ready = defineWork({
  title: "add → tryGet → done: all keys added, then all taken",
  go: { [CLIENT_GO]: "Ready/100000" },
  contenders: { [OURS]: cycle(() => ({})), "bare Map: set, delete": bareMap },
  note: "The bare `Map` is the floor: it remembers the keys and nothing else.",
  bounds: [{ than: CLIENT_GO, atLeast: 2 }, { than: "bare Map: set, delete", atMost: 1.2 }],
});

const oneAtATime = defineWork({
  title: "add → tryGet → done: one key at a time",
  go: { [CLIENT_GO]: "OneAtATime" },
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      return () => addThenTakeEach(keys);
    },
    "bare Map: set, delete": (items) => {
      const keys = distinctKeys(items);
      return () => {
        const map = new Map<string, boolean>();
        for (const key of keys) {
          map.set(key, true);
          map.delete(key);
        }
      };
    },
  },
  bounds: [{ than: CLIENT_GO, atLeast: 2 }],
});

const readyAgain = defineWork({
  title: "add of a key that is ready already",
  go: { [CLIENT_GO]: "ReadyAgain" },
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      const queue = createWorkQueue<string>();
      for (const key of keys) queue.add(key);
      return () => {
        for (const key of keys) queue.add(key);
      };
    },
    "bare Map: get": (items) => {
      const keys = distinctKeys(items);
      const map = new Map(keys.map((key, i) => [key, i]));
      return () => {
        let sum = 0;
        for (const key of keys) sum += map.get(key)!;
        return sum;
      };
    },
  },
  bounds: [{ than: CLIENT_GO, atLeast: 2 }],
});

const waitingWorkers = defineWork({
  title: "10 workers wait in get while a producer adds",
  go: { [CLIENT_GO]: "WaitingWorkers" },
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      return () => addToWaitingWorkers(keys, CONCURRENCY);
    },
    "bare Map and a promise an item": (items) => {
      const keys = distinctKeys(items);
      return async () => {
        const map = new Map<string, boolean>();
        for (const key of keys) map.set(key, true);
        let next = 0;
        await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
          while (next < keys.length) map.delete((await Promise.resolve({ item: keys[next++]! })).item);
        }));
      };
    },
  },
  bounds: [{ than: CLIENT_GO, procs: "2", atLeast: 4 }, { than: CLIENT_GO, procs: "1", atLeast: 1 }],
});

const delayed = defineWork({
  title: "addAfter over 50 deadlines, all fired and taken",
  go: { [CLIENT_GO]: "Delayed" },
  note: "Time stands still until everybody waits: it is moved by hand here, by `testing/synctest` in Go.",
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      return () => delayThenTakeAll(keys, (i) => i % 50 + 1);
    },
  },
  bounds: [{ than: CLIENT_GO, atLeast: 3 }],
});

const heap = defineWork({
  title: "heap: push and pop of random deadlines",
  note: "Ours keeps the order of equal deadlines and can move an entry to an earlier one; the others do neither.",
  contenders: {
    [OURS]: (items) => {
      const deadlines = randomDeadlines(items);
      return () => {
        const queue = new NumberHeap<number>();
        for (let i = 0; i < items; i++) queue.push(i, deadlines[i]!);
        while (queue.length > 0) queue.pop();
      };
    },
    flatqueue: async (items) => {
      const { default: FlatQueue } = await import("flatqueue");
      const deadlines = randomDeadlines(items);
      return () => {
        const queue = new FlatQueue<number>();
        for (let i = 0; i < items; i++) queue.push(i, deadlines[i]!);
        while (queue.length > 0) queue.pop();
      };
    },
    tinyqueue: async (items) => {
      const { default: TinyQueue } = await import("tinyqueue");
      const deadlines = randomDeadlines(items);
      return () => {
        const queue = new TinyQueue<{ deadline: number }>([], (a, b) => a.deadline - b.deadline);
        for (let i = 0; i < items; i++) queue.push({ deadline: deadlines[i]! });
        while (queue.length > 0) queue.pop();
      };
    },
    "heap-js": async (items) => {
      const { Heap } = await import("heap-js");
      const deadlines = randomDeadlines(items);
      return () => {
        const queue = new Heap<{ deadline: number }>((a, b) => a.deadline - b.deadline);
        for (let i = 0; i < items; i++) queue.push({ deadline: deadlines[i]! });
        while (queue.length > 0) queue.pop();
      };
    },
  },
  bounds: [{ than: "flatqueue", atMost: 1.25 }, { than: "tinyqueue", atLeast: 1 }, { than: "heap-js", atLeast: 1 }],
});

function randomDeadlines(count: number): number[] {
  return Array.from({ length: count }, () => Math.random() * 1e6);
}

const KEYS_THAT_FAIL = 1000;

const failing = (create: () => RateLimiter): Contender => (items) => {
  const keys = distinctKeys(KEYS_THAT_FAIL);
  return () => {
    const limiter = create();
    for (let i = 0; i < items; i += keys.length) for (const key of keys) limiter.when(key);
  };
};

const exponential = defineWork({
  title: `when of the exponential limiter, ${KEYS_THAT_FAIL} keys in turn`,
  go: { [CLIENT_GO]: "WhenExponential" },
  contenders: { [OURS]: failing(() => createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 })) },
  bounds: [{ than: CLIENT_GO, atLeast: 2 }],
});

const defaultController = defineWork({
  title: `when of the default controller limiter, ${KEYS_THAT_FAIL} keys in turn`,
  go: { [CLIENT_GO]: "WhenDefaultController" },
  contenders: {
    [OURS]: failing(() => createDefaultControllerLimiter()),
    "performance.now alone": clockAlone(),
  },
  note: "A token bucket has to look at the clock once: that is the floor.",
  bounds: [{ than: CLIENT_GO, atLeast: 3 }],
});

const doNothing = async () => {};

const workers = defineWork({
  title: "`runWorkers`, concurrency 10, an async handler that does nothing",
  itemsOf: { bottleneck: 50 },
  note: "All items are there before the first is handled, and all have been handled at the end. Only ours folds " +
    "duplicates and retries. `fastq` and `async.queue` are given callbacks or promises as named; p-queue, " +
    "fastq.promise and p-limit give each item a promise of its own. bottleneck is timed with 50 items, as it takes " +
    "milliseconds for each.",
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      return async () => {
        const limiter = createExponentialLimiter<string>({ baseDelay: 5, maxDelay: 1_000_000 });
        const queue = createRateLimitingQueue<string>(limiter);
        for (const key of keys) queue.add(key);
        const pool = runWorkers(queue, doNothing, { concurrency: CONCURRENCY });
        queue.shutDown();
        await pool.finished;
      };
    },
    "p-queue": async (items) => {
      const { default: PQueue } = await import("p-queue");
      return async () => {
        const queue = new PQueue({ concurrency: CONCURRENCY });
        for (let i = 0; i < items; i++) queue.add(doNothing);
        await queue.onIdle();
      };
    },
    "fastq.promise": async (items) => {
      const { promise } = (await import("fastq")).default;
      const keys = distinctKeys(items);
      return async () => {
        const queue = promise(doNothing, CONCURRENCY);
        await Promise.all(keys.map((key) => queue.push(key)));
      };
    },
    "fastq (callback)": async (items) => {
      const { default: fastq } = await import("fastq");
      const keys = distinctKeys(items);
      return () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const queue = fastq<unknown, string>((_key, done) => queueMicrotask(() => done(null)), CONCURRENCY);
        queue.drain = resolve;
        for (const key of keys) queue.push(key);
        return promise;
      };
    },
    "async.queue": async (items) => {
      const { default: async } = await import("async");
      const keys = distinctKeys(items);
      return async () => {
        const queue = async.queue(doNothing, CONCURRENCY);
        queue.push(keys);
        await queue.drain();
      };
    },
    bottleneck: async (items) => {
      const { default: Bottleneck } = await import("bottleneck");
      return async () => {
        const limiter = new Bottleneck({ maxConcurrent: CONCURRENCY });
        await Promise.all(Array.from({ length: items }, () => limiter.schedule(doNothing)));
      };
    },
    "p-limit": async (items) => {
      const { default: pLimit } = await import("p-limit");
      return async () => {
        const limit = pLimit(CONCURRENCY);
        await Promise.all(Array.from({ length: items }, () => limit(doNothing)));
      };
    },
  },
  bounds: [{ than: "p-queue", atLeast: 4 }, { than: "fastq.promise", atLeast: 4 }, { than: "async.queue", atLeast: 1 }],
});

const metrics = defineWork({
  title: "metrics: add → tryGet → done, all keys added, then all taken",
  note: "The provider drops what it is told. client-go looks at the clock three times a key, and so do we; how much " +
    "of the cost that is, the clock that costs nothing shows.",
  contenders: {
    "without metrics": cycle(() => ({})),
    "with metrics": cycle(() => ({ name: "bench", metrics: noMetrics })),
    "with metrics, a clock that costs nothing": cycle(() => ({
      name: "bench",
      metrics: noMetrics,
      clock: new StillClock(),
    })),
    "performance.now alone, three times": clockAlone(3),
  },
  bounds: [
    { contender: "with metrics", than: "without metrics", atMost: 2 },
    { contender: "with metrics, a clock that costs nothing", than: "without metrics", atMost: 2 },
  ],
});

/** All workloads, by short name. */
export const works: Readonly<Record<string, Work>> = {
  ready,
  oneAtATime,
  readyAgain,
  waitingWorkers,
  delayed,
  heap,
  exponential,
  defaultController,
  workers,
  metrics,
  ...disciplineWorks,
  ...snapshotWorks,
  ...recordingWorks,
  ...hotKeyWorks,
  ...growthWorks,
};
