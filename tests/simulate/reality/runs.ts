/** Real runs that are recorded and simulated, and the comparison of both. */

import { simulate } from "@workqueue/simulate";

/** A run on a real clock. All times are in milliseconds. */
export interface Run {
  readonly name: string;
  /** Runtime of the recording. */
  readonly runtime: "Deno" | "Bun";
  readonly concurrency: 1 | 2;
  /** Options of the queue besides its concurrency. */
  readonly queue: Readonly<Record<string, unknown>>;
  /** Range in which the time of each attempt lies. */
  readonly work: readonly [least: number, most: number];
  /** Share of time in which a worker works, without retries. */
  readonly utilization: number;
  /** Number of items that arrive at once. */
  readonly burst: number;
  /** Number of keys; `undefined` if each item has its own. */
  readonly keys: number | undefined;
  /** Share of attempts that fail. */
  readonly failing: number;
  readonly groups: number;
  readonly priorities: number;
}

/** Least number of items in a trace. */
export const ITEMS = 2000;

/** Number of items that are added in each run. Some fold into items that are ready already. */
export const ADDS = 2200;

const PLAIN = { queue: {}, burst: 1, keys: undefined, failing: 0, groups: 1, priorities: 1 };
const exponential = { type: "exponential", baseDelay: "100ms", maxDelay: "5s" };
const bucket = { type: "max-of", limiters: [exponential, { type: "bucket", rate: 2, burst: 10 }] };

const kinds: readonly Omit<Run, "runtime" | "name">[] = [
  { ...PLAIN, concurrency: 1, work: [40, 40], utilization: 0.7 },
  { ...PLAIN, concurrency: 2, work: [20, 200], utilization: 0.7 },
  {
    ...PLAIN,
    concurrency: 1,
    queue: { discipline: { type: "priority" }, limiter: exponential },
    work: [20, 80],
    utilization: 0.6,
    failing: 0.05,
    priorities: 3,
  },
  {
    ...PLAIN,
    concurrency: 2,
    queue: { discipline: { type: "fair", separator: "/" } },
    work: [20, 120],
    utilization: 0.6,
    burst: 8,
    groups: 5,
  },
  {
    ...PLAIN,
    concurrency: 2,
    queue: { limiter: bucket, maxRetries: 4 },
    work: [20, 150],
    utilization: 0.7,
    keys: 1000,
    failing: 0.1,
  },
];

/** The ten runs: five on each runtime. */
export const runs: readonly Run[] = (["Deno", "Bun"] as const).flatMap((runtime) =>
  kinds.map((kind, i) => ({ ...kind, runtime, name: `${runtime.toLowerCase()}-${i + 1}` }))
);

/** Returns the config of a run. */
export function configOf({ concurrency, queue }: Run): object {
  return { queues: { jobs: { concurrency, ...queue } } };
}

/** Waits of a run, in milliseconds. */
export interface Waits {
  readonly p50: number;
  readonly p99: number;
}

/** Percentiles that are compared. */
export const PERCENTILES = ["p50", "p99"] as const;

/** Largest error of a simulated wait: relative, and in milliseconds. The larger one counts. */
const RELATIVE = 0.1;
const ABSOLUTE = 3;

/** Returns the waits in the simulation of a trace. */
export async function simulatedWaits(run: Run, trace: string): Promise<Waits> {
  const { waits } = await simulate(configOf(run), trace, { duration: "1h" });
  return waits;
}

/** Reports whether a simulated wait is close enough to a measured one. */
export function isClose(simulated: number, measured: number): boolean {
  return Math.abs(simulated - measured) <= Math.max(RELATIVE * measured, ABSOLUTE);
}
