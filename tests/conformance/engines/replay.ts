/**
 * Replay of the recorded traces of client-go and controller-runtime on an engine. The replay uses a real store and sets
 * its time.
 *
 * @module
 */

import { replayBy, type ReplayTrace, type Report } from "../replay.ts";
import type { Trace } from "../trace.ts";
import { replayBackoffOverflow, replayLimiter, replayTokenBucket } from "./limiter_replay.ts";
import {
  replayPriority,
  replayPriorityGauges,
  replayPriorityMetrics,
  replayPriorityPromotions,
  replayPriorityReadds,
  replayPriorityShutdown,
} from "./priority_replay.ts";
import { DoneOfReadyItem, EqualDeadlines, replayQueue, replayRateLimiting } from "./queue_replay.ts";
import type { Place, ReplayStore } from "./store.ts";

/** Number of traces replayed in parallel. The calls of these traces are sent together. */
const AT_A_TIME = 64;

const FAMILIES: Readonly<Record<string, (trace: Trace, place: Place) => Promise<void>>> = {
  "fifo": replayQueue,
  "delaying": replayQueue,
  "rate-limiting": replayRateLimiting,
  "equal-deadlines": (trace, place) => new EqualDeadlines(trace, place).run(),
  "drain-with-ready-items": replayQueue,
  "done-of-ready-item": (trace, place) => new DoneOfReadyItem(trace, place).run(),
  "limiters": replayLimiter,
  "backoff-overflow": replayBackoffOverflow,
  "token-bucket": replayTokenBucket,
  "priority": replayPriority,
  "priority-metrics": replayPriorityMetrics,
  "priority-gauges": replayPriorityGauges,
  "priority-readds": replayPriorityReadds,
  "priority-promotions": replayPriorityPromotions,
  "priority-shutdown": replayPriorityShutdown,
};

/** Families of traces that are replayed on engines. */
export const engineFamilies: readonly string[] = Object.keys(FAMILIES);

/** Replays all traces of a family, or only the chosen ones. */
export async function replayOnEngine(
  store: ReplayStore,
  directory: URL,
  family: string,
  isChosen: (index: number) => boolean = () => true,
): Promise<Report> {
  const run = crypto.randomUUID();
  const replayTrace: ReplayTrace = async (trace) => {
    const place = { store, name: `${run}-${trace.index}` };
    try {
      await FAMILIES[family]!(trace, place);
    } finally {
      await store.clear(place.name);
    }
  };
  return await replayBy(replayTrace, directory, family, { atATime: AT_A_TIME, isChosen });
}
