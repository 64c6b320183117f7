/** Trial of processes that share a backend of unknown capacity, each with an adaptive throttle of its own. */

import {
  createExponentialLimiter,
  createRateLimitingQueue,
  RetryAfterError,
  runWorkers,
  type ThrottleConfig,
  throttles,
} from "@workqueue/core";
import { RandomNumbers } from "../../packages/simulate/random/random_numbers.ts";
import { SharedBackend } from "../../packages/simulate/run/backend.ts";
import { VirtualClock } from "../../packages/simulate/time/virtual_clock.ts";

const PROCESSES = 8;
const CAPACITY = 60;
/** Number of requests at once from which on the backend refuses further ones. */
const REFUSES = 80;
const MEAN = 50;
const REFUSAL = 10;
const MINUTE = 60_000;

/** Result of a trial. */
export interface Shares {
  /** Jain's fairness index of the numbers of successes: 1 if they are equal, 1/n if one process has all of them. */
  readonly jain: number;
  /** Successes as a share of those of an oracle, whose limit is always the capacity. */
  readonly goodput: number;
}

/** Trial: the throttle of each process, the concurrency of each pool, and when the backend is down, in milliseconds. */
export interface Trial {
  throttleOf(process: number): ThrottleConfig;
  readonly concurrency: number;
  readonly outage?: readonly [from: number, to: number];
}

/** Runs eight pools for a minute, each of which always has work. */
export async function shareBackend({ throttleOf, concurrency, outage }: Trial, seed: number): Promise<Shares> {
  const clock = new VirtualClock();
  const random = RandomNumbers.for(seed, "work");
  const backend = new SharedBackend(clock, {
    capacity: CAPACITY,
    limit: REFUSES,
    quota: undefined,
    refusesAfter: REFUSAL,
    stops: false,
    retryAfter: undefined,
    scope: undefined,
  });
  const successes = Array<number>(PROCESSES).fill(0);
  const call = async () => {
    if (backend.isFull) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, REFUSAL));
      throw new RetryAfterError("10ms");
    }
    await new Promise<void>((resolve) => void backend.begin(MEAN * (0.5 + random.uniform()), resolve));
  };
  const queues = successes.map((_, i) => {
    const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 10, clock });
    const queue = createRateLimitingQueue<number>(limiter, { clock });
    const handler = async (item: number) => {
      await call();
      successes[i]!++;
      queue.add(item);
    };
    const throttle = throttles.build(throttleOf(i), { clock });
    runWorkers(queue, handler, { clock, throttle, concurrency, onError() {} });
    for (let item = 0; item < 200; item++) queue.add(item);
    return queue;
  });
  if (outage !== undefined) {
    clock.setTimeout(() => backend.change(CAPACITY, 0), outage[0]);
    clock.setTimeout(() => backend.change(CAPACITY, REFUSES), outage[1]);
  }
  await clock.run(MINUTE, () => false);
  for (const queue of queues) queue.shutDown();
  const sum = successes.reduce((a, b) => a + b);
  const squares = successes.reduce((a, b) => a + b * b, 0);
  return { jain: sum ** 2 / (PROCESSES * squares), goodput: sum / (MINUTE / MEAN * CAPACITY) };
}
