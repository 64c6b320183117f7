/** Cost of taking a snapshot of a queue. The cost must not depend on the number of keys. */

import { createDelayingQueue, createPriorityDiscipline, type WorkQueue } from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { randomPriorities } from "../priorities.ts";
import { OURS, type Work } from "./work.ts";

const LIMIT = 100;
const HOUR = 3_600_000;

const snapshotOf = (what: string, fill: (items: number) => WorkQueue<string>): Work => ({
  title: `snapshot({ limit: ${LIMIT} }) of a million keys ${what}`,
  items: 1_000_000,
  per: "a snapshot",
  contenders: {
    [OURS]: (items) => {
      const queue = fill(items);
      return () => queue.snapshot({ limit: LIMIT });
    },
  },
});

function fillReady(items: number): WorkQueue<string> {
  const queue = createDelayingQueue<string>();
  for (const key of distinctKeys(items)) queue.add(key);
  return queue;
}

/** Workloads, by short name. */
export const snapshotWorks: Readonly<Record<string, Work>> = {
  snapshotDelayed: snapshotOf("that are delayed", (items) => {
    const queue = createDelayingQueue<string>({ ref: false });
    for (const key of distinctKeys(items)) queue.addAfter(key, HOUR * (1 + Math.random()));
    return queue;
  }),
  snapshotReady: snapshotOf("that are ready", fillReady),
  snapshotProcessing: snapshotOf(`that are ready, ${LIMIT} of them handed out`, (items) => {
    const queue = fillReady(items);
    for (let i = 0; i < LIMIT; i++) queue.tryGet();
    return queue;
  }),
  snapshotOfPriorities: snapshotOf(`that are ready, by priorities, ${LIMIT} of them handed out`, (items) => {
    const queue = createDelayingQueue<string>({ discipline: createPriorityDiscipline() });
    const priorities = randomPriorities(items);
    distinctKeys(items).forEach((key, i) => queue.add(key, priorities[i]));
    for (let i = 0; i < LIMIT; i++) queue.tryGet();
    return queue;
  }),
};
