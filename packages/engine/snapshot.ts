import type { QueueCounts, RemoteQueueSnapshot } from "./contract.ts";
import type { Counts, EngineSnapshot } from "./engine.ts";
import type { Items } from "./items.ts";

/** Returns the counts of a queue. */
export function countsOf(
  { ready, blocked, delayed, processing, failing, givenUp, oldestReadyMs }: Counts,
): QueueCounts {
  return { ready, blocked, delayed, processing, failing, givenUp, oldestReadyMs };
}

/** Creates the snapshot of a queue. */
export function snapshotOf<T>(name: string, snapshot: EngineSnapshot, items: Items<T>): RemoteQueueSnapshot<T> {
  const { isPaused, totals, givenUpFor, readyEntries, delayedEntries, processingEntries, failingEntries, hasGroups } =
    snapshot;
  const counts = countsOf(snapshot);
  return {
    name,
    ...counts,
    paused: isPaused,
    // A key has become ready once for each time that it was handed out, and once more if it is ready now.
    totals: { added: totals.handedOut + counts.ready, ...totals, givenUpFor },
    readyItems: readyEntries.map((entry) => ({ item: items.read(entry), priority: entry.priority ?? 0 })),
    delayedItems: delayedEntries.map((entry) => ({
      item: items.read(entry),
      priority: entry.priority ?? 0,
      dueInMs: entry.dueInMs,
    })),
    processingItems: processingEntries.map((entry) => ({
      item: items.read(entry),
      priority: entry.priority ?? 0,
      addedAgain: entry.addedAgain,
    })),
    failingItems: failingEntries.map(({ attempts, error, dueInMs, ...entry }) => ({
      item: items.read(entry),
      attempts,
      error,
      ...dueInMs !== undefined && { dueInMs },
    })),
    ...snapshot.blockedRetries !== undefined && { blockedRetries: snapshot.blockedRetries },
    ...hasGroups && {
      blockedGroups: snapshot.blockedGroups.map(({ group, reason, blocked, changesInMs = null }) => {
        return { group, reason, blocked, resumesInMs: changesInMs };
      }).sort((one, other) => other.blocked - one.blocked),
    },
  };
}
