import { NumberHeap } from "../../lib/structures/number_heap.ts";
import { delayThenTakeAll } from "../passes.ts";
import type { Groups } from "./case.ts";

const LATEST = 1e6;

function randomDeadlines(count: number): number[] {
  return Array.from({ length: count }, () => Math.random() * LATEST);
}

/** Cases of layer 2, the delaying queue, and its heap. */
export const delayingQueueCases: Groups = {
  "100,000 random deadlines": {
    "numbers, sorted": ({ length }) => {
      const deadlines = randomDeadlines(length);
      return () => Float64Array.from(deadlines).sort();
    },
    "NumberHeap: push, pop": ({ length }) => {
      const deadlines = randomDeadlines(length);
      return () => {
        const heap = new NumberHeap<number>();
        for (let i = 0; i < length; i++) heap.push(i, deadlines[i]!);
        while (heap.length > 0) heap.pop();
      };
    },
    "NumberHeap: push, decrease, pop": ({ length }) => {
      const deadlines = randomDeadlines(length);
      return () => {
        const heap = new NumberHeap<number>();
        for (let i = 0; i < length; i++) heap.decrease(heap.push(i, LATEST), deadlines[i]!);
        while (heap.length > 0) heap.pop();
      };
    },
  },
  "100,000 keys delayed, fired and taken": {
    "Map: set, delete, twice": (keys) => () => {
      const delayed = new Map<string, number>();
      const ready = new Map<string, number>();
      for (const key of keys) delayed.set(key, 0);
      for (const key of keys) {
        delayed.delete(key);
        ready.set(key, 0);
      }
      for (const key of keys) ready.delete(key);
    },
    "addAfter with one delay": (keys) => () => delayThenTakeAll(keys, () => 5),
    "addAfter with 50 delays": (keys) => () => delayThenTakeAll(keys, (i) => i % 50 + 1),
  },
};
