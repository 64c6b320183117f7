/**
 * Ways in which keys become ready or delayed.
 *
 * @module
 */

import type { RetryKind } from "@workqueue/engine";
import { endDelay, FIRST, type Item, placeOfRetry, release } from "./item.ts";
import type { Queue } from "./queue.ts";
import { FAR } from "./time.ts";

/** Maximum number of keys that one call makes ready, so that other calls don't wait for long. */
export const BATCH = 200;

/** Rules for the add of a key that is delayed. */
export interface AddRules {
  /** Whether the add ends the delay. */
  readonly replaces: boolean;
  /** Whether the add is folded into a retry that is delayed. */
  readonly folds: boolean;
}

/**
 * Makes due keys ready, at their deadlines, as if that had happened on time. Also moves ready keys to the order in
 * force, if it is new.
 */
export function makeDueReady(queue: Queue): void {
  const { tx } = queue;
  if (tx.isUpToDate) return;
  queue.moveToOrder();
  const hasDelayed = tx.state.delayed > 0;
  const due = hasDelayed ? tx.items("due <= ? ORDER BY due, due_turn LIMIT ?", tx.now, BATCH) : [];
  for (const item of due) {
    queue.order.advance(item.due!);
    comeDue(queue, item, item.due!);
  }
  queue.order.advance(tx.now);
  queue.budget?.open();
  tx.behind = undefined;
  tx.isUpToDate = due.length < BATCH;
  if (tx.isUpToDate) return;
  queue.moveToOrder();
  const [next] = tx.items("due <= ? ORDER BY due, due_turn LIMIT 1", tx.now);
  tx.behind = next?.due ?? undefined;
}

/** Makes a key ready whose delay has passed, if `makeDueReady` has not. Called before the key is changed. */
export function promoteDue(queue: Queue, item: Item): void {
  if (item.due !== null && item.due <= queue.tx.now) comeDue(queue, item, item.due);
}

/** Ends the delay of a key that is due. */
function comeDue(queue: Queue, item: Item, due: number): void {
  const { due_priority, due_is_retry } = item;
  endDelay(item);
  come(queue, item, due, due_priority, due_is_retry);
}

/** Handles a key that is due or added now: it becomes ready at `place`, or is marked as added again. */
export function come(
  queue: Queue,
  item: Item,
  place: number,
  priority: number,
  retry: RetryKind = 0,
  folds = false,
): void {
  if (item.token === null) {
    if (queue.budget === undefined) queue.makeReady(item, placeOfRetry(place, retry), priority);
    else queue.budget.come(item, place, priority, retry, folds);
    return;
  }
  // Any add makes the next attempt a first attempt, also before or after a retry that comes during this attempt.
  if (retry === 0 || item.is_added_again === 0) item.is_retry = retry;
  item.priority = item.is_added_again !== 0 ? Math.max(item.priority, priority) : priority;
  if (item.is_added_again === 0) item.is_added_again = 1;
}

/**
 * Ends a hand-out. A key that was added again becomes ready.
 *
 * @param place The place of a key that is handed back, if it keeps its place.
 */
export function endHandOut(queue: Queue, item: Item, isHandedBack = false, place?: number): void {
  const { is_added_again, priority, is_retry } = item;
  queue.order.ended(item);
  release(item);
  if (is_added_again === 0) return;
  item.priority = 0;
  place ??= queue.tx.tick();
  if (queue.budget === undefined) queue.makeReady(item, placeOfRetry(place, is_retry), priority);
  else queue.budget.comeBack(item, place, priority, isHandedBack);
}

/** Delays a key. A key that is delayed keeps the earlier deadline, and has the higher of the two priorities. */
export function delayUntil(queue: Queue, item: Item, due: number, priority: number, retry: RetryKind): void {
  if (item.due !== null) priority = Math.max(priority, item.due_priority);
  item.due_priority = priority;
  if (item.due !== null && item.due <= due) return;
  item.due = Math.min(due, FAR);
  item.due_turn = queue.tx.tick();
  item.due_is_retry = queue.budget === undefined && retry !== FIRST ? 0 : retry; // a later budget is not for it
  queue.tx.mayChangeEarlier = true;
}

/** Adds a key now. */
export function addNow(queue: Queue, item: Item, rules: AddRules, priority: number, retry: RetryKind = 0): void {
  promoteDue(queue, item);
  if (rules.folds && item.is_folding === 1) {
    item.due_priority = Math.max(item.due_priority, priority);
    return;
  }
  if (rules.replaces && item.due !== null) {
    priority = Math.max(priority, item.due_priority);
    endDelay(item);
  }
  come(queue, item, queue.tx.tick(), priority, retry, rules.folds);
}

/** Adds a key after a delay in microseconds. */
export function addAfter(
  queue: Queue,
  item: Item,
  delay: number,
  rules: AddRules,
  priority: number,
  retry: RetryKind = 0,
): void {
  promoteDue(queue, item);
  const isThere = item.line !== null || item.is_added_again !== 0;
  if (delay <= 0 || rules.replaces && isThere) return addNow(queue, item, rules, priority, retry);
  delayUntil(queue, item, queue.tx.tick() + delay, priority, retry);
}
