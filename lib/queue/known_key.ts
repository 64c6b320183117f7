import type { KnownKey } from "../contracts/queue_hooks.ts";

/** A record of no item: no item is this object. */
export function noKnownKey(): KnownKey {
  return { item: {}, key: undefined };
}

/**
 * Runs an action in which the item has this key, so no layer calls `keyOf` for it. The action calls methods of the
 * queue as always: each may be somebody else's.
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
