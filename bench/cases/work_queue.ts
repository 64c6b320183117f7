import { createFairDiscipline, createPriorityDiscipline, createWorkQueue, InMemoryMetrics } from "@workqueue/core";
import { noMetrics } from "../metrics.ts";
import { addAllThenTakeAll, addAllWithOptionsThenTakeAll, addThenTakeEach, addToWaitingWorkers } from "../passes.ts";
import { randomPriorities } from "../priorities.ts";
import type { Groups } from "./case.ts";

/**
 * Cases of layer 1, the work queue. The baseline is a bare `Map` with the operations that every queue without
 * duplicates needs.
 */
export const workQueueCases: Groups = {
  "100,000 keys added, then all taken": {
    "Map: set, delete": (keys) => () => {
      const map = new Map<string, boolean>();
      for (const key of keys) map.set(key, true);
      for (const key of keys) map.delete(key);
    },
    "add, tryGet, done": (keys) => () => addAllThenTakeAll(createWorkQueue(), keys),
    "add, tryGet, done of items with keyOf": (keys) => () => {
      addAllThenTakeAll(createWorkQueue({ keyOf: (item) => item }), keys);
    },
    "add, tryGet, done by priority": (keys) => {
      const priorities = randomPriorities(keys.length);
      return () => {
        const queue = createWorkQueue<string>({ discipline: createPriorityDiscipline() });
        addAllWithOptionsThenTakeAll(queue, keys, priorities);
      };
    },
    "add, tryGet, done in fair turns of 10 groups": (keys) => () => {
      addAllThenTakeAll(createWorkQueue({ discipline: createFairDiscipline({ separator: "/" }) }), keys);
    },
    "add, for await": (keys) => async () => {
      const queue = createWorkQueue<string>();
      for (const key of keys) queue.add(key);
      queue.shutDown();
      for await (const _ of queue);
    },
  },
  "100,000 keys, one at a time": {
    "Map: set, delete": (keys) => () => {
      const map = new Map<string, boolean>();
      for (const key of keys) {
        map.set(key, true);
        map.delete(key);
      }
    },
    "add, tryGet, done": (keys) => () => addThenTakeEach(keys),
  },
  "100,000 keys that are ready, added again": {
    "Map: get": (keys) => {
      const map = new Map(keys.map((key, i) => [key, i]));
      return () => {
        let sum = 0; // computed so that the compiler can't remove the reads
        for (const key of keys) sum += map.get(key)!;
        return sum;
      };
    },
    "add": (keys) => {
      const queue = createWorkQueue<string>();
      for (const key of keys) queue.add(key);
      return () => {
        for (const key of keys) queue.add(key);
      };
    },
  },
  "10 workers wait in get for 100,000 keys": {
    "promises alone": ({ length }) => async () => {
      let taken = 0;
      const item = {};
      await Promise.all(Array.from({ length: 10 }, async () => {
        while (taken++ < length) await Promise.resolve(item);
      }));
    },
    "get, done": (keys) => () => addToWaitingWorkers(keys, 10),
  },
  "metrics of 100,000 keys added, then all taken": {
    "not measured": (keys) => () => addAllThenTakeAll(createWorkQueue(), keys),
    "three looks at the clock a key, no queue": ({ length }) => () => {
      let sum = 0;
      for (let i = 0; i < 3 * length; i++) sum += performance.now();
      return sum;
    },
    "measured, and dropped": (keys) => () => {
      using queue = createWorkQueue<string>({ name: "bench", metrics: noMetrics });
      addAllThenTakeAll(queue, keys);
    },
    "measured in memory": (keys) => () => {
      using queue = createWorkQueue<string>({ name: "bench", metrics: new InMemoryMetrics() });
      addAllThenTakeAll(queue, keys);
    },
  },
};
