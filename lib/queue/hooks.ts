import { HOOKS, OPTIONS } from "../base/brands.ts";
import type { HookedQueue, QueueHooks } from "../contracts/queue_hooks.ts";

const NONE: QueueHooks<never> = {};

/** Returns the hooks of a queue. A queue of somebody else's may have none. */
export function hooksOf<T>(queue: object): QueueHooks<T> {
  return (queue as HookedQueue<T>)[HOOKS] ?? NONE as QueueHooks<T>;
}

/** Gives a queue its hooks. As a field of the class, they would keep bundlers from leaving the class out. */
export function setHooks<T>(queue: object, hooks: QueueHooks<T>): void {
  Object.defineProperty(queue, HOOKS, { value: hooks });
}

/** Reports whether the adds of a queue take options. */
export function takesOptions(queue: object): boolean {
  return (queue as { [OPTIONS]?: unknown })[OPTIONS] === true;
}

/** Marks a queue whose adds take options. As a field of the class, the mark would keep bundlers from leaving it out. */
export function markTakesOptions(queue: object): void {
  Object.defineProperty(queue, OPTIONS, { value: true });
}
