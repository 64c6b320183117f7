import { HOOKS, OPTIONS } from "../base/brands.ts";
import type { HookedQueue, QueueHooks } from "../contracts/queue_hooks.ts";

const NONE: QueueHooks<never> = {};

/** Returns the hooks of a queue. A third-party queue may have no hooks. */
export function hooksOf<T>(queue: object): QueueHooks<T> {
  return (queue as HookedQueue<T>)[HOOKS] ?? NONE as QueueHooks<T>;
}

/**
 * Sets a queue's hooks. The hooks are not a class field, because bundlers would then keep the class even if nothing
 * uses it.
 */
export function setHooks<T>(queue: object, hooks: QueueHooks<T>): void {
  Object.defineProperty(queue, HOOKS, { value: hooks });
}

/** Reports whether the `add` method of a queue accepts options. */
export function takesOptions(queue: object): boolean {
  return (queue as { [OPTIONS]?: unknown })[OPTIONS] === true;
}

/**
 * Marks a queue whose `add` method accepts options. The mark is not a class field, because bundlers would then keep the
 * class even if nothing uses it.
 */
export function markTakesOptions(queue: object): void {
  Object.defineProperty(queue, OPTIONS, { value: true });
}
