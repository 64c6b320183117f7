import type { CancelledFrom } from "@workqueue/core";
import { type CancelledKey, processOf } from "@workqueue/engine";
import { endHandOut, makeDueReady, promoteDue } from "./arrivals.ts";
import { endDelay, type Item, leaveLine, Line } from "./item.ts";
import { OF_OWNER } from "./owners.ts";
import type { Queue } from "./queue.ts";

/** Maximum number of cancelled keys that one call reports. */
const MAX_TOLD = 200;

/** Returns the address of messages that tell a process to renew its leases: other messages replace each other. */
export function renewalAddress(process: string): string {
  return `${process} renew`;
}

/** Cancels the work on a key, and forgets its failures. Returns the state of the key; `undefined` if it had none. */
export function cancel(queue: Queue, key: string, reason: string): CancelledFrom | undefined {
  makeDueReady(queue);
  const item = queue.tx.item(key);
  promoteDue(queue, item);
  const isDelayed = item.due !== null;
  const state = takeOut(queue, item, reason) ?? (isDelayed ? "delayed" : undefined);
  if (state === undefined) return undefined;
  if (isDelayed) endDelay(item);
  queue.failures.forget(key);
  queue.waits.end(key, `cancelled ${reason}`);
  queue.notify();
  return state;
}

/**
 * Removes a key that is ready or blocked, or marks the hand-out of a processing key as cancelled. A delay of the key is
 * not affected.
 */
function takeOut(queue: Queue, item: Item, reason: string): Exclude<CancelledFrom, "delayed"> | undefined {
  const { line, owner } = item;
  const { tx, owners } = queue;
  if (owner !== null) {
    item.is_added_again = item.is_retry = item.priority = 0;
    item.cancelled ??= reason;
    tx.messages.set(renewalAddress(processOf(owners.nameOf(owner))), 0);
    return "running";
  }
  if (line === null) return undefined;
  const isInOrder = line === tx.state.line;
  const isBlocked = isInOrder ? queue.order.blocks(item) : line === Line.BLOCKED_RETRY;
  if (isInOrder) queue.order.remove(item);
  else leaveLine(item);
  item.stalls = item.is_retry = item.priority = 0;
  return isBlocked ? "blocked" : "ready";
}

/**
 * Ends a hand-out that was cancelled and whose work was not done. Only an add after the cancel makes the key ready.
 * Returns whether the hand-out was cancelled; if not, changes nothing.
 */
export function endCancelled(queue: Queue, item: Item): boolean {
  if (item.cancelled === null) return false;
  item.stalls = 0;
  endHandOut(queue, item);
  return true;
}

/** Returns cancelled keys that an owner has. */
export function cancelledKeysOf({ tx }: Queue, owner: string): CancelledKey[] {
  tx.flush();
  return tx.sql.all<{ token: number; reason: string }>(
    `SELECT token, cancelled AS reason FROM items WHERE queue = ? AND ${OF_OWNER} AND cancelled IS NOT NULL LIMIT ?`,
    tx.queue,
    tx.queue,
    owner,
    MAX_TOLD,
  ).map(({ token, reason }) => ({ token: String(token), reason }));
}
