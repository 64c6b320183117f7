import { distinctKeys } from "./keys.ts";

/** Prepares the floor for every queue without duplicates: a bare `Map` that remembers all keys, then forgets them. */
export function bareMap(items: number): () => void {
  const keys = distinctKeys(items);
  return () => {
    const map = new Map<string, boolean>();
    for (const key of keys) map.set(key, true);
    for (const key of keys) map.delete(key);
  };
}
