/** Benchmarks of layer 2, the delaying queue, and its heap. */

import { NumberHeap } from "../lib/structures/number_heap.ts";
import { distinctKeys } from "./keys.ts";
import { delayThenTakeAll } from "./passes.ts";

const KEYS = distinctKeys(100_000);
const DEADLINES = KEYS.map(() => Math.random() * 1e6);

Deno.bench("numbers, sorted", { group: "100,000 random deadlines", baseline: true }, () => {
  Float64Array.from(DEADLINES).sort();
});

Deno.bench("NumberHeap: push, pop", { group: "100,000 random deadlines" }, () => {
  const heap = new NumberHeap<number>();
  for (let i = 0; i < DEADLINES.length; i++) heap.push(i, DEADLINES[i]!);
  while (heap.length > 0) heap.pop();
});

Deno.bench("NumberHeap: push, decrease, pop", { group: "100,000 random deadlines" }, () => {
  const heap = new NumberHeap<number>();
  for (let i = 0; i < DEADLINES.length; i++) heap.decrease(heap.push(i, 1e6), DEADLINES[i]!);
  while (heap.length > 0) heap.pop();
});

Deno.bench("Map: set, delete, twice", { group: "100,000 keys delayed, fired and taken", baseline: true }, () => {
  const delayed = new Map<string, number>();
  const ready = new Map<string, number>();
  for (const key of KEYS) delayed.set(key, 0);
  for (const key of KEYS) {
    delayed.delete(key);
    ready.set(key, 0);
  }
  for (const key of KEYS) ready.delete(key);
});

Deno.bench("addAfter with one delay", { group: "100,000 keys delayed, fired and taken" }, () => {
  delayThenTakeAll(KEYS, () => 5);
});

Deno.bench("addAfter with 50 delays", { group: "100,000 keys delayed, fired and taken" }, () => {
  delayThenTakeAll(KEYS, (i) => i % 50 + 1);
});
