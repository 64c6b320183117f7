import type { KnownKey } from "../contracts/queue_hooks.ts";

/** Returns a record without a known key. The record's `item` is a new object, which is not in any queue. */
export function noKnownKey(): KnownKey {
  return { item: {}, key: undefined };
}

/**
 * Runs an action. During the action, `known` contains the item's key, so that no layer calls `keyOf` for the item. The
 * key is not passed as an argument, because the queue's methods may be third-party code.
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
