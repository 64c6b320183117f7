import { HOOKS } from "../base/brands.ts";
import type { HookedQueue, QueueHooks } from "../contracts/queue_hooks.ts";

const NONE: QueueHooks<never> = {};

/** The hooks of a queue. One of somebody else's may have none. */
export function hooksOf<T>(queue: object): QueueHooks<T> {
  return (queue as HookedQueue<T>)[HOOKS] ?? NONE as QueueHooks<T>;
}

/** Gives a queue its hooks. As a field of its class they would keep bundlers from leaving the class out. */
export function setHooks<T>(queue: object, hooks: QueueHooks<T>): void {
  Object.defineProperty(queue, HOOKS, { value: hooks });
}
