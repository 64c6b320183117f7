/** Trial of retry budgets after an overload, in the simulator. */

import { simulate } from "@workqueue/simulate";

/** First attempts per second before and after the overload, and during it. The backend can take 15. */
const RATE = 10;
const OVERLOAD = 20;
/** Time at which the overload begins, and its length. A queue has ten times as long to recover. */
const BEGIN = 10_000;
const LENGTH = 6000;
const END = BEGIN + 11 * LENGTH;
/** Time at the end in which successes are counted. */
const COUNTED = 20_000;

const PLAIN = {
  concurrency: 50,
  timeout: "2s",
  limiter: { type: "exponential", baseDelay: "1s", maxDelay: "30s" },
} as const;
const retryBudget = { ratio: 0.1, minRate: 1 };

/** Queues of the trial. */
export const QUEUES = {
  plain: PLAIN,
  budget: { ...PLAIN, retryBudget },
  "budget and throttle": { ...PLAIN, retryBudget, throttle: { type: "gradient", max: 50 } },
} as const;

/**
 * Simulates an overload. Attempts that have timed out keep the backend busy. Reports whether the queue recovers: at the
 * end of ten times the length of the overload, it has at least 90 % of its earlier successes per second.
 */
export async function recovers(queue: keyof typeof QUEUES, seed: number): Promise<boolean> {
  const { timeline: { step, successes } } = await simulate({ queues: { q: QUEUES[queue] } }, {
    duration: END,
    arrivals: [
      { type: "constant", rate: RATE },
      { type: "constant", rate: OVERLOAD - RATE, from: BEGIN, for: LENGTH },
    ],
    work: { type: "exponential", mean: "200ms" },
    backend: { capacity: 3 },
    changes: [{ type: "pause", at: END, for: END }], // nothing is measured after the end
  }, { seed });
  const counted = successes.slice(Math.round((END - COUNTED) / step), Math.round(END / step));
  return counted.reduce((sum, count) => sum + count, 0) >= 0.9 * RATE * COUNTED / 1000;
}

/** Returns the share of the runs with the seeds from 1 to `runs` in which the queue does not recover. */
export async function shareWithoutRecovery(queue: keyof typeof QUEUES, runs: number): Promise<number> {
  let failed = 0;
  for (let seed = 1; seed <= runs; seed++) if (!await recovers(queue, seed)) failed++;
  return failed / runs;
}
