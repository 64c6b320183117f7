import type { Entry, RankedEntry } from "@workqueue/engine";
import { addAfter, addNow, type AddRules, makeDueReady } from "./arrivals.ts";
import { renewalAddress } from "./cancels.ts";
import { isGone, type Item } from "./item.ts";
import { OF_OWNER } from "./owners.ts";
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
      tellHolder(queue, item);
    }
  }
  queue.notify();
  return added;
}

/** Tells the holder of a key that was added while it is processing, if the holder wants to know. */
function tellHolder({ tx, owners }: Queue, item: Item): void {
  if (item.is_added_again !== 1) return;
  item.is_added_again = 2;
  const process = tx.state.tellsAdds ? owners.toldProcess(item.owner!) : undefined;
  if (process !== undefined) tx.messages.set(renewalAddress(process), 0);
}

/** Returns tokens of keys that were added while an owner has them, if it wants to know. */
export function addedAgainOf({ tx }: Queue, owner: string): string[] {
  tx.flush();
  return tx.sql.all<{ token: number }>(
    `SELECT token FROM items WHERE queue = ? AND ${OF_OWNER} AND is_added_again = 2`,
    tx.queue,
    tx.queue,
    owner,
  ).map(({ token }) => String(token));
}

/** Stores the payload and the trace of an entry. */
export function keepPayload({ tx }: Queue, { key, payload, trace }: Entry, { hasItems }: AddSettings): void {
  const item = tx.item(key);
  item.trace = trace ?? null;
  if (!hasItems) return;
  item.payload = payload;
  tx.state.hasPayloads = true;
}
