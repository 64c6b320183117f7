/**
 * Replay of the recorded traces of client-go and controller-runtime on the Redis engine. The replay uses a real server
 * and sets its time.
 *
 * @module
 */

import { replayBy, type ReplayTrace, type Report } from "../../conformance/replay.ts";
import type { Trace } from "../../conformance/trace.ts";
import { TimedServer } from "../timed_server.ts";
import { replayBackoffOverflow, replayLimiter, replayTokenBucket } from "./limiter_replay.ts";
import type { Place } from "./place.ts";
import {
  replayPriority,
  replayPriorityGauges,
  replayPriorityMetrics,
  replayPriorityPromotions,
  replayPriorityReadds,
  replayPriorityShutdown,
} from "./priority_replay.ts";
import { DoneOfReadyItem, EqualDeadlines, replayQueue, replayRateLimiting } from "./queue_replay.ts";

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

/** Families of traces that are replayed on Redis. */
export const redisFamilies: readonly string[] = Object.keys(FAMILIES);

/** Replays all traces of a family, or only the chosen ones, on the server with this URL. */
export async function replayOnRedis(
  url: string,
  directory: URL,
  family: string,
  isChosen: (index: number) => boolean = () => true,
): Promise<Report> {
  await using server = await TimedServer.connect(url);
  const run = crypto.randomUUID();
  const replayTrace: ReplayTrace = async (trace) => {
    const place = { url, server, name: `${run}-${trace.index}` };
    try {
      await FAMILIES[family]!(trace, place);
    } finally {
      await server.clear(place.name);
    }
  };
  return await replayBy(replayTrace, directory, family, { atATime: AT_A_TIME, isChosen });
}
