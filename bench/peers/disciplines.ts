/** Cost of disciplines, compared with FIFO (first in, first out). */

import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type QueueDiscipline,
  runWorkers,
} from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { addAllThenTakeAll, addAllWithOptionsThenTakeAll } from "../passes.ts";
import { randomPriorities } from "../priorities.ts";
import { StillClock } from "../still_clock.ts";
import { type Contender, lookAtTheClock, OURS, type Work } from "./work.ts";

const CONCURRENCY = 10;
const MANY_GROUPS = 1000;

/**
 * Discipline to measure, the number of groups into which its keys are divided, and whether the keys have priorities.
 */
interface Order {
  readonly create: () => QueueDiscipline<string> | undefined;
  readonly groups?: number;
  readonly hasPriorities?: boolean;
}

const fair = () => createFairDiscipline<string>({ separator: "/" });

/**
 * Disciplines whose cost must not exceed a bound, by the name of the measurement. `bound` is the maximum cost relative
 * to FIFO.
 */
export const boundedOrders: Readonly<Record<string, Order & { readonly bound: number }>> = {
  "priority, 201 priorities": { create: () => createPriorityDiscipline(), hasPriorities: true, bound: 3 },
  "priority, one priority": { create: () => createPriorityDiscipline(), bound: 2 },
  "fair, 1,000 groups": { create: fair, groups: MANY_GROUPS, bound: 3 },
  "fair, one group": { create: fair, groups: 1, bound: 2 },
};

/** Suffix for the names of measurements with a clock that costs nothing. */
export const STILL = "; a clock that costs nothing";

/** Adds all keys. Then takes all keys. */
const inOrder = ({ create, groups, hasPriorities }: Order, newClock?: () => StillClock): Contender => (items) => {
  const keys = distinctKeys(items, groups);
  const priorities = hasPriorities ? randomPriorities(items) : undefined;
  return () => {
    const queue = createWorkQueue<string>({ discipline: create(), clock: newClock?.() });
    if (priorities === undefined) addAllThenTakeAll(queue, keys);
    else addAllWithOptionsThenTakeAll(queue, keys, priorities);
  };
};

const disciplines: Work = {
  title: "disciplines: add → tryGet → done, all keys added, then all taken",
  items: 100_000,
  note: "Ours is first in, first out here, without a discipline. A discipline is told when a key became ready, which " +
    "takes a look at the clock; how much of the cost that is, the clock that costs nothing shows. A bare `Map` whose " +
    "keys are deleted in a random order is what the memory of the machine takes for that.",
  contenders: {
    [OURS]: inOrder({ create: () => undefined }),
    ...Object.fromEntries(Object.entries(boundedOrders).map(([name, order]) => [name, inOrder(order)])),
    ...Object.fromEntries(
      Object.entries(boundedOrders).map(([name, order]) => [name + STILL, inOrder(order, () => new StillClock())]),
    ),
    "strict priority, 201 priorities": inOrder({
      create: () => createPriorityDiscipline({ maxHeadStart: "unlimited" }),
      hasPriorities: true,
    }),
    "fair, 10 groups, 201 priorities inside": inOrder({
      create: () => createFairDiscipline({ separator: "/", within: () => createPriorityDiscipline() }),
      hasPriorities: true,
    }),
    "bare Map: set, delete in a random order": (items) => {
      const keys = distinctKeys(items);
      const priorities = randomPriorities(items);
      const shuffled = keys.map((key, i) => ({ key, priority: priorities[i]!.priority! }))
        .sort((a, b) => b.priority - a.priority)
        .map(({ key }) => key);
      return () => {
        const map = new Map<string, boolean>();
        for (const key of keys) map.set(key, true);
        for (const key of shuffled) map.delete(key);
      };
    },
    "performance.now alone": (items) => () => lookAtTheClock(items),
  },
};

const doNothing = async () => {};

const priorityWorkers: Work = {
  title: "priorities from -100 to 100, concurrency 10, an async handler that does nothing",
  items: 100_000,
  note: "All items are added, then all are handled, the highest priority first. p-queue has an array that it keeps " +
    "sorted, so an item costs by the number of the others.",
  contenders: {
    [OURS]: (items) => {
      const keys = distinctKeys(items);
      const priorities = randomPriorities(items);
      return async () => {
        const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }), {
          discipline: createPriorityDiscipline({ maxHeadStart: "unlimited" }),
        });
        for (let i = 0; i < items; i++) queue.add(keys[i]!, priorities[i]);
        const pool = runWorkers(queue, doNothing, { concurrency: CONCURRENCY });
        queue.shutDown();
        await pool.finished;
      };
    },
    "p-queue": async (items) => {
      const { default: PQueue } = await import("p-queue");
      const priorities = randomPriorities(items) as { priority: number }[];
      return async () => {
        const queue = new PQueue({ concurrency: CONCURRENCY, autoStart: false });
        for (let i = 0; i < items; i++) queue.add(doNothing, priorities[i]!);
        await queue.start().onIdle();
      };
    },
  },
};

/** Workloads, by short name. */
export const disciplineWorks: Readonly<Record<string, Work>> = { disciplines, priorityWorkers };
