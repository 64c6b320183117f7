import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { AddOptions, Lease, WorkQueue } from "../contracts/work_queue.ts";
import { takesOptions } from "../queue/add_options.ts";
import { hooksOf } from "../queue/hooks.ts";

/** Whether the queue takes an item again that is held: always, until it shuts down. */
export function takesBack<T>(queue: WorkQueue<T>, item: T): boolean {
  return !queue.shuttingDown || hooksOf<T>(queue).takesBack?.(item) === true;
}

/** Adds an item again with the priority that it was handed out with. Leases of somebody else's may have none. */
export function asItCame<T>(queue: WorkQueue<T>, { priority = 0 }: Partial<Lease<T>>): AddOptions | undefined {
  return priority !== 0 && takesOptions(queue) ? { priority } : undefined;
}

/** Gives an item back that is not finished, so that it is ready again as it came. Tells whether the queue took it. */
export function giveBack<T>(queue: WorkQueue<T>, lease: Lease<T>): boolean {
  const { item } = lease;
  const options = asItCame(queue, lease);
  if (!queue.shuttingDown) {
    queue.add(item, options);
    return true;
  }
  const hooks = hooksOf<T>(queue);
  if (hooks.takeBack === undefined || !takesBack(queue, item)) return false;
  hooks.takeBack(item, 0, options);
  return true;
}

/** Adds an item again that has to wait at least so many milliseconds, whatever the limiter says. */
export function addRateLimited<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  options: AddOptions | undefined,
  atLeast: number,
): void {
  const hooks = hooksOf<T>(queue);
  if (atLeast <= 0) queue.addRateLimited(item, options);
  else if (hooks.takesAtLeast || takesOptions(queue)) queue.addRateLimited(item, { ...options, atLeast });
  else if (queue.shuttingDown) hooks.takeBack?.(item, atLeast, options);
  else queue.addAfter(item, atLeast, options); // better without the limiter than too early
}
