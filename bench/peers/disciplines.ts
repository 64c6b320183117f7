/** Cost of disciplines, compared with FIFO (first in, first out) and with other queues that have priorities. */

import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  createWorkQueue,
  type QueueDiscipline,
  runWorkers,
} from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { addAllThenTakeAll, addAllWithOptionsThenTakeAll } from "../passes.ts";
import { randomPriorities } from "../priorities.ts";
import { StillClock } from "../still_clock.ts";
import type { Bound } from "../rows/row.ts";
import { CLIENT_GO, clockAlone, type Contender, defineWork, OURS, PRIORITY_QUEUE, type Work } from "./row.ts";

const CONCURRENCY = 10;

/** Discipline, the number of groups into which its keys are divided, and whether the keys have priorities. */
interface Order {
  readonly create: () => QueueDiscipline<string> | undefined;
  readonly groups?: number;
  readonly hasPriorities?: boolean;
}

const fair = () => createFairDiscipline<string>({ separator: "/" });
const strict = () => createPriorityDiscipline<string>({ maxHeadStart: "unlimited" });

/** Name of this queue without a discipline: first in, first out. */
const FIFO = "FIFO";
const NO_DISCIPLINE: Order = { create: () => undefined };

/** Disciplines, each with its largest allowed cost relative to FIFO. */
const ORDERS: Readonly<Record<string, Order & { readonly bound: number }>> = {
  "priority, 201 priorities": { create: () => createPriorityDiscipline(), hasPriorities: true, bound: 4 },
  "strict priority, 201 priorities": { create: strict, hasPriorities: true, bound: 3.5 },
  "priority, one priority": { create: () => createPriorityDiscipline(), bound: 2 },
  "fair, 1,000 groups": { create: fair, groups: 1000, bound: 3.5 },
  "fair, one group": { create: fair, groups: 1, bound: 2 },
};

/** Disciplines that order like the queue of controller-runtime. */
const PEERS_OF_PRIORITY_QUEUE = ["priority, 201 priorities", "strict priority, 201 priorities"];
const aheadOfPriorityQueue: readonly Bound[] = PEERS_OF_PRIORITY_QUEUE.map((contender) => (
  { contender, than: PRIORITY_QUEUE, atLeast: 2 }
));

/** Returns a contender for each discipline. */
function ofEachOrder(contenderOf: (order: Order) => Contender, suffix = ""): Record<string, Contender> {
  return Object.fromEntries(Object.entries(ORDERS).map(([name, order]) => [name + suffix, contenderOf(order)]));
}

type Discipline = ReturnType<Order["create"]>;

const plain = (discipline: Discipline) => createWorkQueue<string>({ discipline });

/** Adds all keys to a queue that `newQueue` makes. Then takes all keys. */
const inOrder = (newQueue = plain) => ({ create, groups, hasPriorities }: Order): Contender => (items) => {
  const keys = distinctKeys(items, groups);
  const priorities = hasPriorities ? randomPriorities(items) : undefined;
  return () => {
    const queue = newQueue(create());
    if (priorities === undefined) addAllThenTakeAll(queue, keys);
    else addAllWithOptionsThenTakeAll(queue, keys, priorities);
  };
};

/** Suffix for the names of contenders with a clock that costs nothing. */
const STILL = "; a clock that costs nothing";

const disciplines = defineWork({
  title: "disciplines: add → tryGet → done, all keys added, then all taken",
  note:
    "FIFO is this queue without a discipline. A discipline that uses time looks at the clock when a key becomes ready. " +
    "A bare `Map` whose keys are deleted in a random order shows what the memory of the " +
    `machine takes for that. ${PRIORITY_QUEUE} has strict priorities: the highest priority first.`,
  contenders: {
    [FIFO]: inOrder()(NO_DISCIPLINE),
    ...ofEachOrder(inOrder()),
    ...ofEachOrder(inOrder((discipline) => createWorkQueue({ discipline, clock: new StillClock() })), STILL),
    "fair, 10 groups, 201 priorities inside": inOrder()({
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
    "performance.now alone": clockAlone(),
  },
  go: { [PRIORITY_QUEUE]: "PriorityReady" },
  bounds: [
    ...Object.entries(ORDERS).flatMap(([name, { bound }]) =>
      [name, name + STILL].map((contender) => ({ contender, than: FIFO, atMost: bound }))
    ),
    ...aheadOfPriorityQueue,
  ],
});

/** Keeps 100,000 keys in a queue. Adds one key, takes one and finishes it; the finished key is the next to be added. */
const steadily = ({ create, groups, hasPriorities }: Order): Contender => (items) => {
  const keys = distinctKeys(items + 1, groups);
  const priorities = hasPriorities ? randomPriorities(items) : undefined;
  const queue = createWorkQueue<string>({ discipline: create() });
  for (let i = 0; i < items; i++) queue.add(keys[i]!, priorities?.[i]);
  let spare = keys[items]!;
  return () => {
    for (let i = 0; i < items; i++) {
      queue.add(spare, priorities?.[i]);
      spare = queue.tryGet()!.item;
      queue.done(spare);
    }
  };
};

const steady = defineWork({
  title: "steady state: 100,000 keys are ready; one is added, one is taken, one is done",
  note: "FIFO is this queue without a discipline. The key that is done is the next to be added, with another priority.",
  contenders: { [FIFO]: steadily(NO_DISCIPLINE), ...ofEachOrder(steadily) },
  go: { [CLIENT_GO]: "Steady", [PRIORITY_QUEUE]: "PrioritySteady" },
  bounds: aheadOfPriorityQueue,
});

/** Suffix for the names of contenders with a retry budget. */
const WITH_BUDGET = ", with a retry budget";

const limited = (hasBudget: boolean) => (discipline: Discipline) =>
  createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }), {
    discipline,
    retryBudget: hasBudget ? createRetryBudget({ ratio: 0.1, minRate: 1 }) : undefined,
  });

const budgets = defineWork({
  title: "retry budgets: add → tryGet → done, all keys added, then all taken",
  note: "No key is a retry.",
  contenders: { ...ofEachOrder(inOrder(limited(false))), ...ofEachOrder(inOrder(limited(true)), WITH_BUDGET) },
  bounds: Object.keys(ORDERS).map((name) => ({ contender: name + WITH_BUDGET, than: name, atMost: 1.1 })),
});

const doNothing = async () => {};

const priorityWorkers = defineWork({
  title: "`runWorkers`, priorities from -100 to 100, concurrency 10, an async handler that does nothing",
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
  bounds: [{ than: "p-queue", atLeast: 10 }],
});

/** Workloads, by short name. */
export const disciplineWorks: Readonly<Record<string, Work>> = { disciplines, steady, budgets, priorityWorkers };
