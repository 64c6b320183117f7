/** Trial of adaptive throttles against a backend whose capacity jumps, in the simulator. See rule 19. */

import { simulate } from "@workqueue/simulate";

/** Capacities of the backend, a minute each. The first minute is not measured. */
const CAPACITIES = [40, 4, 40];
const MINUTE = 60_000;
const TEN_SECONDS = 10_000;

/** Throttles of the trial. The fixed limit is tuned for the mean capacity. */
export const TRIED = {
  aimd: { type: "aimd", max: 100, initial: 40 },
  gradient: { type: "gradient", max: 100, initial: 40 },
  fixed: { type: "concurrency", limit: 22 },
} as const;

/** Successes after a jump, as shares of those of an oracle, whose limit is always the capacity. */
export interface Goodput {
  readonly jump: "down" | "up";
  readonly whole: number;
  readonly firstTenSeconds: number;
  readonly rest: number;
}

/** Simulates a throttle. Attempts take `mean` milliseconds on average, and time out after 40 times as long. */
export async function goodputOf(throttle: keyof typeof TRIED, mean: number, seed: number): Promise<Goodput[]> {
  const [first, ...others] = CAPACITIES;
  const config = {
    queues: {
      q: {
        concurrency: 100,
        timeout: 40 * mean,
        limiter: { type: "exponential", baseDelay: "100ms", maxDelay: "5s" },
        throttle: TRIED[throttle],
      },
    },
  };
  const { timeline: { step, successes } } = await simulate(config, {
    duration: CAPACITIES.length * MINUTE,
    arrivals: [{ type: "constant", rate: 1000 * 1.1 * 40 / mean }],
    work: { type: "exponential", mean },
    backend: { capacity: first!, stops: true },
    changes: others.map((capacity, i) => ({ type: "capacity", at: (i + 1) * MINUTE, capacity })),
  }, { seed });
  const sum = (from: number, to: number) =>
    successes.slice(Math.round(from / step), Math.round(to / step)).reduce((sum, count) => sum + count, 0);
  return others.map((capacity, i): Goodput => {
    const from = (i + 1) * MINUTE;
    const share = (start: number, end: number) => sum(from + start, from + end) / ((end - start) * capacity / mean);
    return {
      jump: capacity < CAPACITIES[i]! ? "down" : "up",
      whole: share(0, MINUTE),
      firstTenSeconds: share(0, TEN_SECONDS),
      rest: share(TEN_SECONDS, MINUTE),
    };
  });
}
