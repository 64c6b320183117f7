/** Cost of taking a snapshot of a queue. The cost must not depend on the number of keys. */

import { createDelayingQueue, createPriorityDiscipline, type WorkQueue } from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { randomPriorities } from "../priorities.ts";
import { FEW_ROUNDS } from "../rows/row.ts";
import { type Contender, defineWork, type Work } from "./row.ts";

const LIMIT = 100;
const HOUR = 3_600_000;

/** Number of snapshots in one run, and of keys per snapshot: a million keys in all, and fewer in a test. */
const SNAPSHOTS = 100;
const KEYS_PER_SNAPSHOT = 10_000;

const snapshotsOf = (fill: (keys: string[]) => WorkQueue<string>): Contender => (snapshots) => {
  const queue = fill(distinctKeys(snapshots * KEYS_PER_SNAPSHOT));
  return () => {
    for (let i = 0; i < snapshots; i++) queue.snapshot({ limit: LIMIT });
  };
};

function fillReady(keys: string[]): WorkQueue<string> {
  const queue = createDelayingQueue<string>();
  for (const key of keys) queue.add(key);
  return queue;
}

function takeSome(queue: WorkQueue<string>): WorkQueue<string> {
  for (let i = 0; i < LIMIT; i++) queue.tryGet();
  return queue;
}

/** Workloads, by short name. */
export const snapshotWorks: Readonly<Record<string, Work>> = {
  snapshots: defineWork({
    title: `snapshot({ limit: ${LIMIT} }) of a million keys`,
    items: SNAPSHOTS,
    rounds: FEW_ROUNDS,
    unit: "ms a snapshot",
    contenders: {
      "delayed keys": snapshotsOf((keys) => {
        const queue = createDelayingQueue<string>({ ref: false });
        for (const key of keys) queue.addAfter(key, HOUR * (1 + Math.random()));
        return queue;
      }),
      "ready keys": snapshotsOf(fillReady),
      "ready keys, 100 of them handed out": snapshotsOf((keys) => takeSome(fillReady(keys))),
      "ready keys, by priority, 100 of them handed out": snapshotsOf((keys) => {
        const queue = createDelayingQueue<string>({ discipline: createPriorityDiscipline() });
        const priorities = randomPriorities(keys.length);
        keys.forEach((key, i) => queue.add(key, priorities[i]));
        return takeSome(queue);
      }),
    },
    bounds: [
      { contender: "delayed keys", atMost: 1 },
      { contender: "ready keys", atMost: 1 },
      { contender: "ready keys, 100 of them handed out", atMost: 1 },
      { contender: "ready keys, by priority, 100 of them handed out", atMost: 1 },
    ],
  }),
};
