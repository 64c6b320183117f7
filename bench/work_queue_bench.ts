/** Layer 1 beside its floor: the operations on a bare `Map` that no queue which folds duplicates can avoid. */

import { createWorkQueue, InMemoryMetrics, type WorkQueue } from "@workqueue/core";
import { distinctKeys } from "./keys.ts";
import { noMetrics } from "./metrics.ts";

const KEYS = distinctKeys(100_000);

function addAllThenTakeAll(queue: WorkQueue<string>): void {
  for (const key of KEYS) queue.add(key);
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) queue.done(lease.item);
}

function oneAtATime(queue: WorkQueue<string>): void {
  for (const key of KEYS) {
    queue.add(key);
    queue.done(queue.tryGet()!.item);
  }
}

Deno.bench("Map: set, delete", { group: "100,000 keys added, then all taken", baseline: true }, () => {
  const map = new Map<string, boolean>();
  for (const key of KEYS) map.set(key, true);
  for (const key of KEYS) map.delete(key);
});

Deno.bench("add, tryGet, done", { group: "100,000 keys added, then all taken" }, () => {
  addAllThenTakeAll(createWorkQueue());
});

Deno.bench("add, tryGet, done of items with keyOf", { group: "100,000 keys added, then all taken" }, () => {
  addAllThenTakeAll(createWorkQueue({ keyOf: (item) => item }));
});

Deno.bench("add, for await", { group: "100,000 keys added, then all taken" }, async () => {
  const queue = createWorkQueue<string>();
  for (const key of KEYS) queue.add(key);
  queue.shutDown();
  for await (const _ of queue);
});

Deno.bench("Map: set, delete", { group: "100,000 keys, one in flight at a time", baseline: true }, () => {
  const map = new Map<string, boolean>();
  for (const key of KEYS) {
    map.set(key, true);
    map.delete(key);
  }
});

Deno.bench("add, tryGet, done", { group: "100,000 keys, one in flight at a time" }, () => {
  oneAtATime(createWorkQueue());
});

const ready = createWorkQueue<string>();
for (const key of KEYS) ready.add(key);
const map = new Map(KEYS.map((key, i) => [key, i]));

Deno.bench("Map: get", { group: "100,000 keys that are ready, added again", baseline: true }, () => {
  let sum = 0; // or a compiler might find that nobody needs to look
  for (const key of KEYS) sum += map.get(key)!;
  return void sum;
});

Deno.bench("add", { group: "100,000 keys that are ready, added again" }, () => {
  for (const key of KEYS) ready.add(key);
});

Deno.bench("promises alone", { group: "10 workers wait in get for 100,000 keys", baseline: true }, async () => {
  let taken = 0;
  const item = {};
  await Promise.all(Array.from({ length: 10 }, async () => {
    while (taken++ < KEYS.length) await Promise.resolve(item);
  }));
});

Deno.bench("get, done", { group: "10 workers wait in get for 100,000 keys" }, async () => {
  const queue = createWorkQueue<string>();
  const workers = Array.from({ length: 10 }, async () => {
    for (let lease = await queue.get(); !lease.shutdown; lease = await queue.get()) queue.done(lease.item);
  });
  for (const key of KEYS) queue.add(key);
  queue.shutDown();
  await Promise.all(workers);
});

Deno.bench("not measured", { group: "metrics of 100,000 keys added, then all taken", baseline: true }, () => {
  addAllThenTakeAll(createWorkQueue());
});

Deno.bench(
  "three looks at the clock a key, no queue",
  { group: "metrics of 100,000 keys added, then all taken" },
  () => {
    let sum = 0;
    for (let i = 0; i < 3 * KEYS.length; i++) sum += performance.now();
    return void sum;
  },
);

Deno.bench("measured, and dropped", { group: "metrics of 100,000 keys added, then all taken" }, () => {
  using queue = createWorkQueue<string>({ name: "bench", metrics: noMetrics });
  addAllThenTakeAll(queue);
});

Deno.bench("measured in memory", { group: "metrics of 100,000 keys added, then all taken" }, () => {
  using queue = createWorkQueue<string>({ name: "bench", metrics: new InMemoryMetrics() });
  addAllThenTakeAll(queue);
});
