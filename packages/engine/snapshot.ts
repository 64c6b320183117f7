import type { RemoteQueueSnapshot } from "@workqueue/core/hooks";
import type { EngineSnapshot } from "./engine.ts";
import type { Items } from "./items.ts";

/** Creates the snapshot of a queue. */
export function snapshotOf<T>(name: string, snapshot: EngineSnapshot, items: Items<T>): RemoteQueueSnapshot<T> {
  const { ready, totals, readyItems, delayedItems, processingItems, failingItems, blockedGroups } = snapshot;
  return {
    name,
    ...snapshot,
    // A key has become ready once for each time that it was handed out, and once more if it is ready now.
    totals: { added: totals.handedOut + ready, ...totals },
    readyItems: readyItems.map((entry) => ({ item: items.read(entry), priority: entry.priority ?? 0 })),
    delayedItems: delayedItems.map((entry) => {
      return { item: items.read(entry), priority: entry.priority ?? 0, dueInMs: entry.dueInMs };
    }),
    processingItems: processingItems.map((entry) => {
      return { item: items.read(entry), priority: entry.priority ?? 0, addedAgain: entry.addedAgain };
    }),
    failingItems: failingItems.map(({ attempts, error, dueInMs, ...entry }) => {
      return { item: items.read(entry), attempts, error, ...dueInMs !== undefined && { dueInMs } };
    }),
    ...blockedGroups && { blockedGroups: blockedGroups.toSorted((one, other) => other.blocked - one.blocked) },
  };
}
