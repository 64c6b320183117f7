import type { WorkQueue } from "../contracts/work_queue.ts";
import { hooksOf } from "../queue/hooks.ts";

/** Whether the queue takes an item again that is held: always, until it shuts down. */
export function takesBack<T>(queue: WorkQueue<T>, item: T): boolean {
  return !queue.shuttingDown || hooksOf<T>(queue).takesBack?.(item) === true;
}

/** Gives an item back that is not finished, so that it is ready again as it came. Tells whether the queue took it. */
export function giveBack<T>(queue: WorkQueue<T>, item: T): boolean {
  if (!queue.shuttingDown) {
    queue.add(item);
    return true;
  }
  const hooks = hooksOf<T>(queue);
  if (hooks.takeBack === undefined || !takesBack(queue, item)) return false;
  hooks.takeBack(item, 0);
  return true;
}
