import type { QueueSnapshot } from "@workqueue/core";
import type { Contents } from "./engine.ts";
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
