/** Work on queues with a million keys, to measure how long a single callback blocks the event loop. */

import {
  createDelayingQueue,
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  type DelayingQueue,
  type DelayingQueueOptions,
  loadConfig,
  type RateLimitingQueue,
  runWorkers,
} from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { randomPriorities } from "../priorities.ts";

/** Prepares a queue, unmeasured. Returns the work to measure. */
type Prepare = () => () => Promise<unknown>;

const KEYS = distinctKeys(1_000_000);
const HOUR = 3_600_000;

/** Number of keys on which a caller acts in one callback. */
const SLICE = 1000;
/** Number of snapshots. */
const SNAPSHOTS = 100;
const CONCURRENCY = 10;

/** Waits until timers and other callbacks have had a turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets the event loop turn until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** Acts on each key, on 1,000 keys per callback. */
async function forEachKey(act: (key: string, i: number) => void): Promise<void> {
  for (let i = 0; i < KEYS.length; i++) {
    act(KEYS[i]!, i);
    if ((i + 1) % SLICE === 0) await turn();
  }
}

/** Returns a queue with a million keys that are delayed by about an hour. */
function delayedQueue(): DelayingQueue<string> {
  const queue = createDelayingQueue<string>({ ref: false });
  for (const key of KEYS) queue.addAfter(key, HOUR * (1 + Math.random()));
  return queue;
}

function readyQueue(): DelayingQueue<string> {
  const queue = createDelayingQueue<string>();
  for (const key of KEYS) queue.add(key);
  return queue;
}

function rateLimitingQueue(): RateLimitingQueue<string> {
  return createRateLimitingQueue(createExponentialLimiter({ baseDelay: HOUR, maxDelay: 100 * HOUR }), { ref: false });
}

/** Returns a queue with a million keys that failed and are ready again. */
function failedQueue(): RateLimitingQueue<string> {
  const queue = rateLimitingQueue();
  for (const key of KEYS) {
    queue.addRateLimited(key);
    queue.cancelDelayed(key);
    queue.add(key);
  }
  return queue;
}

/** Handles all ready keys with a pool, and waits for the pool. */
async function handleAll(queue: RateLimitingQueue<string>): Promise<void> {
  const pool = runWorkers(queue, () => {}, { concurrency: CONCURRENCY });
  await queue.shutDownWithDrain();
  await pool.finished;
}

async function takeSnapshots(queue: DelayingQueue<string>): Promise<void> {
  for (let i = 0; i < SNAPSHOTS; i++) {
    queue.snapshot({ limit: 100 });
    await turn();
  }
}

const priorities = randomPriorities(KEYS.length);
const byPriority = () => ({ discipline: createPriorityDiscipline() });

const dueAtOnce = (options: () => DelayingQueueOptions<string>, priorityOf?: typeof priorities): Prepare => () => {
  const queue = createDelayingQueue<string>(options());
  // The timer can't fire before all keys are added, because they are added in one callback.
  KEYS.forEach((key, i) => queue.addAfter(key, 1, priorityOf?.[i]));
  return () => until(() => queue.length === KEYS.length);
};

const adding = (options: () => DelayingQueueOptions<string>, priorityOf?: typeof priorities): Prepare => () => {
  const queue = createDelayingQueue<string>(options());
  return () => forEachKey((key, i) => queue.add(key, priorityOf?.[i]));
};

const taking: Prepare = () => {
  const queue = readyQueue();
  return () => forEachKey(() => queue.tryGet()![Symbol.dispose]());
};

const DOCUMENT = {
  limiters: { gentle: { type: "exponential", baseDelay: "1h", maxDelay: "100h" } },
  queues: { jobs: { limiter: "gentle", discipline: { type: "priority" }, maxRetries: 10 } },
} as const;

/** Workloads, by name. */
export const callbackWorks: Readonly<Record<string, Prepare>> = {
  "a million due at once": dueAtOnce(() => ({})),
  "a million due at once, by priority": dueAtOnce(byPriority, priorities),
  "a million due over 5 s": () => {
    const queue = createDelayingQueue<string>();
    const start = performance.now() + 2000;
    for (const key of KEYS) queue.addAfter(key, Math.max(start + 5000 * Math.random() - performance.now(), 1));
    return () => until(() => queue.length === KEYS.length);
  },
  "flush of a million delayed keys": () => {
    const queue = delayedQueue();
    return async () => {
      queue.shutDownWithDrain({ delayed: "flush" });
      await until(() => queue.length === KEYS.length);
    };
  },
  "drain: a million ready keys, handled by a pool": () => {
    const queue = rateLimitingQueue();
    for (const key of KEYS) queue.add(key);
    return () => handleAll(queue);
  },
  "drain: a million delayed keys, dropped": () => {
    const queue = delayedQueue();
    return () => queue.shutDownWithDrain();
  },
  "snapshots of a million ready keys": () => {
    const queue = readyQueue();
    return () => takeSnapshots(queue);
  },
  "snapshots of a million delayed keys": () => {
    const queue = delayedQueue();
    return () => takeSnapshots(queue);
  },
  "reload with a million failing keys": () => {
    const config = loadConfig(DOCUMENT);
    const queue = config.queue<string>("jobs");
    for (const key of KEYS) queue.addRateLimited(key);
    return async () => {
      config.reload({
        queues: { jobs: { limiter: { type: "fast-slow", fastDelay: "1h", slowDelay: "2h", maxFastAttempts: 9 } } },
      });
      await turn();
      config.reload(DOCUMENT);
      await turn();
      queue.shutDown();
    };
  },
  "forgetting a million keys": () => {
    const queue = rateLimitingQueue();
    for (const key of KEYS) queue.addRateLimited(key);
    return () => forEachKey((key) => queue.forget(key));
  },
  "forgetting a million keys as they succeed": () => {
    const queue = failedQueue();
    return () => handleAll(queue);
  },
  "making a million delayed keys ready": () => {
    const queue = delayedQueue();
    return () =>
      forEachKey((key) => {
        queue.cancelDelayed(key);
        queue.add(key);
      });
  },
  "adding a million keys": adding(() => ({})),
  "adding a million keys, by priority": adding(byPriority, priorities),
  "delaying a million keys": () => {
    const queue = createDelayingQueue<string>({ ref: false });
    return () => forEachKey((key) => queue.addAfter(key, HOUR * (1 + Math.random())));
  },
  "failures of a million keys": () => {
    const queue = rateLimitingQueue();
    return () => forEachKey((key) => queue.addRateLimited(key));
  },
  "taking a million keys": taking,
};
