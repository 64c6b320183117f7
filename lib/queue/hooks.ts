import { HOOKS, setBrand } from "../base/brands.ts";
import type { HookedQueue, QueueHooks } from "../contracts/queue_hooks.ts";

const NONE: QueueHooks<never> = {};

/** Returns the hooks of a queue. A third-party queue may have no hooks. */
export function hooksOf<T>(queue: object): QueueHooks<T> {
  return (queue as HookedQueue<T>)[HOOKS] ?? NONE as QueueHooks<T>;
}

/** Sets a queue's hooks. */
export function setHooks<T>(queue: object, hooks: QueueHooks<T>): void {
  setBrand(queue, HOOKS, hooks);
}
