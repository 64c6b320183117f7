import { HOOKS, OPTIONS, setBrand } from "../base/brands.ts";
import type { HookedQueue, QueueHooks } from "../contracts/queue_hooks.ts";

const NONE: QueueHooks<never> = {};

/** Returns the hooks of a queue. A third-party queue may have no hooks. */
export function hooksOf<T>(queue: object): QueueHooks<T> {
  return (queue as HookedQueue<T>)[HOOKS] ?? NONE as QueueHooks<T>;
}

/** Hooks that a layer takes over from the queue below, unless it sets its own. */
const TAKEN_OVER = [
  "newest",
  "stateOf",
  "unmark",
  "failed",
  "forgotten",
  "retry",
  "blockedRetries",
  "handedBack",
  "takesBack",
  "takeBack",
  "dueAt",
  "nextDueAt",
  "allDelayed",
  "beginBatch",
  "watch",
  "givenUp",
  "isOver",
  "mayComeBack",
  "groups",
  "pauseFor",
  "setSleep",
  "resumesInMs",
  "observe",
] as const;

/** Returns the hooks that a layer takes over from the hooks of the queue below. Each calls the hook below. */
export function hooksFrom<T>(below: QueueHooks<T>): QueueHooks<T> {
  const call = (name: keyof QueueHooks<T>) => (...args: unknown[]) => (below as Record<string, Method>)[name]!(...args);
  return Object.fromEntries(TAKEN_OVER.flatMap((name) => below[name] ? [[name, call(name)]] : []));
}

type Method = (...args: unknown[]) => unknown;

/** Sets a queue's hooks. */
export function setHooks<T>(queue: object, hooks: QueueHooks<T>): void {
  setBrand(queue, HOOKS, hooks);
}

/** Reports whether the `add` method of a queue accepts options. */
export function takesOptions(queue: object): boolean {
  return (queue as { [OPTIONS]?: unknown })[OPTIONS] === true;
}
