/**
 * Performs recorded operations on our queues and limiters, and compares what comes of each with what Go's did.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { replayBackoffOverflow, replayLimiter, replayTokenBucket } from "./limiter_families.ts";
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

const FAMILIES: Readonly<
  Record<string, (trace: Trace) => void | Promise<void>>
> = {
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
};

/** The names of the families; each is recorded in a file of its name. */
export const families: readonly string[] = Object.keys(FAMILIES);

/** What came of the traces of a family. */
export interface Report {
  readonly family: string;
  readonly traces: number;
  readonly operations: number;
  /** A message for each trace that came out differently. */
  readonly differences: readonly string[];
  /** How often the Go package did what we do differently on purpose, by the name of the exception. */
  readonly exceptions: ReadonlyMap<string, number>;
}

/** Replays the traces of a family that were recorded in a directory. */
export async function replay(directory: URL, family: string): Promise<Report> {
  const { seed, operations: names, traces } = readVectors(directory, family);
  const replayTrace = FAMILIES[family]!;
  const differences: string[] = [];
  const exceptions = new Map<string, number>();
  let operations = 0;
  for (const [index, values] of traces.entries()) {
    const trace = new Trace(index, values, names);
    try {
      await replayTrace(trace);
    } catch (error) {
      const message = error instanceof Difference ? error.message : `${(error as Error).stack}`;
      differences.push(
        `${family}, trace ${index} of seed ${seed}, ${trace.place}: ${message}`,
      );
    }
    operations += trace.operations;
    for (const [name, times] of trace.exceptions) {
      exceptions.set(name, (exceptions.get(name) ?? 0) + times);
    }
  }
  return { family, traces: traces.length, operations, differences, exceptions };
}

function readVectors(directory: URL, family: string): Vectors {
  return JSON.parse(readFileSync(new URL(`${family}.json`, directory), "utf8"));
}
