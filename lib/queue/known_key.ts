import type { KnownKey } from "../contracts/queue_hooks.ts";

/** Returns a record of no item. Its `item` is an object that is not in any queue. */
export function noKnownKey(): KnownKey {
  return { item: {}, key: undefined };
}

/**
 * Runs an action during which the key of an item is known, so that no layer calls `keyOf` for it. The action calls the
 * usual methods of the queue, because any of them may be a third party's.
 */
export function withKey(known: KnownKey, item: unknown, key: unknown, action: () => void): void {
  const before = { ...known };
  known.item = item;
  known.key = key;
  try {
    action();
  } finally {
    Object.assign(known, before);
  }
}
