import { TAKE_BACK, TAKES_BACK } from "../base/brands.ts";
import type { QueueHooks } from "../contracts/queue_hooks.ts";
import type { WorkQueue } from "../contracts/work_queue.ts";

/** Whether the queue takes an item again that is held: always, until it shuts down. */
export function takesBack<T>(queue: WorkQueue<T>, item: T): boolean {
  return !queue.shuttingDown || (queue as QueueHooks<T>)[TAKES_BACK]?.(item) === true;
}

/** Gives an item back that is not finished, so that it is ready again as it came. Tells whether the queue took it. */
export function giveBack<T>(queue: WorkQueue<T>, item: T): boolean {
  if (!queue.shuttingDown) {
    queue.add(item);
    return true;
  }
  const hooks = queue as QueueHooks<T>;
  if (hooks[TAKE_BACK] === undefined || !takesBack(queue, item)) return false;
  hooks[TAKE_BACK](item, 0);
  return true;
}
