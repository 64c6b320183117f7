/**
 * Replay of recorded operations on the queues and limiters. Each result is compared with Go's result.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { replayBreaker } from "./breaker_families.ts";
import { replayBackoffOverflow, replayLimiter, replayTokenBucket } from "./limiter_families.ts";
import { replayOutage } from "./outage_family.ts";
import {
  replayPriority,
  replayPriorityGauges,
  replayPriorityMetrics,
  replayPriorityPromotions,
  replayPriorityReadds,
  replayPriorityShutdown,
} from "./priority_families.ts";
import {
  replayDelaying,
  replayDoneOfReadyItem,
  replayDrainWithReadyItems,
  replayEqualDeadlines,
  replayFifo,
  replayMetrics,
  replayRateLimiting,
} from "./queue_families.ts";
import { Difference, Trace, type Vectors } from "./trace.ts";

/** Performs the operations of a trace and compares the results. */
export type ReplayTrace = (trace: Trace) => void | Promise<void>;

const FAMILIES: Readonly<Record<string, ReplayTrace>> = {
  "fifo": replayFifo,
  "delaying": replayDelaying,
  "limiters": replayLimiter,
  "token-bucket": replayTokenBucket,
  "rate-limiting": replayRateLimiting,
  "metrics": replayMetrics,
  "equal-deadlines": replayEqualDeadlines,
  "drain-with-ready-items": replayDrainWithReadyItems,
  "done-of-ready-item": replayDoneOfReadyItem,
  "backoff-overflow": replayBackoffOverflow,
  "priority": replayPriority,
  "priority-metrics": replayPriorityMetrics,
  "priority-readds": replayPriorityReadds,
  "priority-promotions": replayPriorityPromotions,
  "priority-shutdown": replayPriorityShutdown,
  "priority-gauges": replayPriorityGauges,
  "outage": replayOutage,
  "breaker": replayBreaker,
  "breaker-differences": replayBreaker,
};

/** Names of the families. Each family is recorded in a file that is named after it. */
export const families: readonly string[] = Object.keys(FAMILIES);

/** Results of replaying a family. */
export interface Report {
  readonly family: string;
  readonly traces: number;
  readonly operations: number;
  /** One message for each trace in which a result differs. */
  readonly differences: readonly string[];
  /** Number of deliberate differences from the Go package, by exception name. */
  readonly exceptions: ReadonlyMap<string, number>;
}

/** Replays a family's recorded traces from a directory. */
export async function replay(directory: URL, family: string): Promise<Report> {
  return await replayBy(FAMILIES[family]!, directory, family);
}

/**
 * Replays a family's recorded traces, like `replay`, but can replay several traces at a time, or only some of the
 * traces.
 */
export async function replayBy(
  replayTrace: ReplayTrace,
  directory: URL,
  family: string,
  { atATime = 1, isChosen = () => true }: { atATime?: number; isChosen?: (index: number) => boolean } = {},
): Promise<Report> {
  const { seed, operations: names, traces } = readVectors(directory, family);
  const all = traces.map((values, index) => new Trace(index, values, names)).filter(({ index }) => isChosen(index));
  const differences: string[] = [];
  const left = all.values();
  const replayOneByOne = async () => {
    for (const trace of left) { // concurrent calls take the remaining traces from one list
      try {
        await replayTrace(trace);
      } catch (error) {
        const message = error instanceof Difference ? error.message : `${(error as Error).stack}`;
        differences.push(`${family}, trace ${trace.index} of seed ${seed}, ${trace.place}: ${message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, replayOneByOne));
  let operations = 0;
  const exceptions = new Map<string, number>();
  for (const trace of all) {
    operations += trace.operations;
    for (const [name, times] of trace.exceptions) exceptions.set(name, (exceptions.get(name) ?? 0) + times);
  }
  return { family, traces: all.length, operations, differences, exceptions };
}

function readVectors(directory: URL, family: string): Vectors {
  return JSON.parse(readFileSync(new URL(`${family}.json`, directory), "utf8"));
}
