/**
 * Benchmarks of layer 1, the work queue. The baseline is a bare `Map` with the operations that every queue without
 * duplicates needs.
 */

import { createFairDiscipline, createPriorityDiscipline, createWorkQueue, InMemoryMetrics } from "@workqueue/core";
import { distinctKeys } from "./keys.ts";
import { noMetrics } from "./metrics.ts";
import { addAllThenTakeAll, addAllWithOptionsThenTakeAll, addThenTakeEach, addToWaitingWorkers } from "./passes.ts";
import { randomPriorities } from "./priorities.ts";

const KEYS = distinctKeys(100_000);
const PRIORITIES = randomPriorities(KEYS.length);

Deno.bench("Map: set, delete", { group: "100,000 keys added, then all taken", baseline: true }, () => {
  const map = new Map<string, boolean>();
  for (const key of KEYS) map.set(key, true);
  for (const key of KEYS) map.delete(key);
});

Deno.bench("add, tryGet, done", { group: "100,000 keys added, then all taken" }, () => {
  addAllThenTakeAll(createWorkQueue(), KEYS);
});

Deno.bench("add, tryGet, done of items with keyOf", { group: "100,000 keys added, then all taken" }, () => {
  addAllThenTakeAll(createWorkQueue({ keyOf: (item) => item }), KEYS);
});

Deno.bench("add, tryGet, done by priority", { group: "100,000 keys added, then all taken" }, () => {
  const queue = createWorkQueue<string>({ discipline: createPriorityDiscipline() });
  addAllWithOptionsThenTakeAll(queue, KEYS, PRIORITIES);
});

Deno.bench("add, tryGet, done in fair turns of 10 groups", { group: "100,000 keys added, then all taken" }, () => {
  addAllThenTakeAll(createWorkQueue({ discipline: createFairDiscipline({ separator: "/" }) }), KEYS);
});

Deno.bench("add, for await", { group: "100,000 keys added, then all taken" }, async () => {
  const queue = createWorkQueue<string>();
  for (const key of KEYS) queue.add(key);
  queue.shutDown();
  for await (const _ of queue);
});

Deno.bench("Map: set, delete", { group: "100,000 keys, one at a time", baseline: true }, () => {
  const map = new Map<string, boolean>();
  for (const key of KEYS) {
    map.set(key, true);
    map.delete(key);
  }
});

Deno.bench("add, tryGet, done", { group: "100,000 keys, one at a time" }, () => {
  addThenTakeEach(KEYS);
});

const ready = createWorkQueue<string>();
for (const key of KEYS) ready.add(key);
const map = new Map(KEYS.map((key, i) => [key, i]));

Deno.bench("Map: get", { group: "100,000 keys that are ready, added again", baseline: true }, () => {
  let sum = 0; // computed so that the compiler can't remove the reads
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
  await addToWaitingWorkers(KEYS, 10);
});

Deno.bench("not measured", { group: "metrics of 100,000 keys added, then all taken", baseline: true }, () => {
  addAllThenTakeAll(createWorkQueue(), KEYS);
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
  addAllThenTakeAll(queue, KEYS);
});

Deno.bench("measured in memory", { group: "metrics of 100,000 keys added, then all taken" }, () => {
  using queue = createWorkQueue<string>({ name: "bench", metrics: new InMemoryMetrics() });
  addAllThenTakeAll(queue, KEYS);
});
