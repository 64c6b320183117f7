import type { QueueSnapshot } from "@workqueue/core";
import type { RedisQueueDetails } from "./contract.ts";
import type { Contents, Details } from "./engine.ts";
import type { Items } from "./items.ts";

/** What is in a queue, as a queue in memory shows it: there are no priorities yet, and nothing is held back. */
export function snapshotOf<T>(name: string, contents: Contents, items: Items<T>): QueueSnapshot<T> {
  const { ready, waiting, held, readyEntries, waitingEntries, heldEntries } = contents;
  return {
    name,
    length: ready,
    heldBack: 0,
    waiting,
    held,
    readyItems: readyEntries.map((entry) => ({ item: items.read(entry), priority: 0 })),
    waitingItems: waitingEntries.map((entry) => ({ item: items.read(entry), priority: 0, dueIn: entry.dueIn })),
    heldItems: heldEntries.map((entry) => ({ item: items.read(entry), priority: 0, addedAgain: entry.addedAgain })),
  };
}

/** The same, and how the queue is. */
export function detailsOf<T>(name: string, details: Details, items: Items<T>): RedisQueueDetails<T> {
  const { ready, isPaused, failing, givenUp, oldestReady, totals, failingEntries } = details;
  return {
    ...snapshotOf(name, details, items),
    paused: isPaused,
    failing,
    givenUp,
    oldestReady,
    // Nothing is ready but it became so, and nothing is so no longer but what was handed out.
    totals: { added: totals.handedOut + ready, ...totals },
    failingItems: failingEntries.map(({ attempts, error, dueIn, ...entry }) => ({
      item: items.read(entry),
      attempts,
      error,
      ...dueIn !== undefined && { dueIn },
    })),
  };
}
