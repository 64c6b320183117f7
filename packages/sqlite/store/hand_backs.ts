import { endCancelled } from "./cancels.ts";
import { type Item, placeBefore, release } from "./item.ts";
import type { Queue } from "./queue.ts";

/** Hands back a key that was not worked on. The key returns to its earlier place, unless it was cancelled. */
export function putBack(queue: Queue, item: Item): void {
  if (endCancelled(queue, item)) return;
  const { token, held_place, held_priority, is_added_again, priority } = item;
  queue.order.ended(item);
  release(item);
  item.priority = 0;
  if (queue.budget !== undefined) item.is_retry = 1; // its next attempt is not a first attempt
  const place = held_place ?? placeBefore(token!);
  queue.makeReady(item, place, is_added_again !== 0 ? Math.max(held_priority, priority) : held_priority);
}
