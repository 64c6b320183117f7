import type { Entry, RankedEntry } from "@workqueue/engine";
import { addAfter, addNow, type AddRules, makeDueReady } from "./arrivals.ts";
import { isGone } from "./item.ts";
import type { Queue } from "./queue.ts";
import { toMicroseconds } from "./time.ts";

/** Settings of a process for its adds. */
export interface AddSettings extends AddRules {
  /** Whether items are stored as JSON in addition to their keys. */
  readonly hasItems: boolean;
}

/** Adds entries. Returns the number of different keys among them that were in no state. */
export function addEntries(queue: Queue, entries: readonly RankedEntry[], settings: AddSettings): number {
  makeDueReady(queue);
  let added = 0;
  for (const entry of entries) {
    const item = queue.tx.item(entry.key);
    if (isGone(item)) added++;
    keepPayload(queue, entry, settings);
    if (entry.priority !== 0) queue.tx.state.isRanked = true;
    if (entry.delay > 0) {
      queue.keptKeys.revive(item);
      addAfter(queue, item, toMicroseconds(entry.delay), settings, entry.priority);
    } else {
      addNow(queue, item, settings, entry.priority);
    }
  }
  queue.notify();
  return added;
}

/** Stores the payload and the trace of an entry. */
export function keepPayload({ tx }: Queue, { key, payload, trace }: Entry, { hasItems }: AddSettings): void {
  const item = tx.item(key);
  item.trace = trace ?? null;
  if (!hasItems) return;
  item.payload = payload;
  tx.state.hasPayloads = true;
}
