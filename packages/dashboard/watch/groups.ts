import type { Group } from "../api.ts";

/** Maximum number of groups to return. */
const MAX_GROUPS = 50;

/** Characters that end the first part of a key, if the config doesn't specify a separator. */
const SEPARATORS = /[/:|]/;

/** Returns the first part of a key; `undefined` if the key has no separator. */
export function groupOf(key: string, separator: string | undefined): string | undefined {
  const end = separator === undefined ? key.search(SEPARATORS) : key.indexOf(separator);
  return end > 0 ? key.slice(0, end) : undefined;
}

/**
 * Groups items by the first part of their keys and counts each group. Returns the largest group first. Keys without a
 * separator belong to no group.
 */
export function groupsOf(keys: readonly string[], separator: string | undefined): Group[] {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const group = groupOf(key, separator);
    if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count).slice(
    0,
    MAX_GROUPS,
  );
}

/**
 * Returns the group that has more than 80 % of the items; `undefined` if there is no such group or there are fewer than
 * 100 items.
 */
export function hotGroup(groups: readonly Group[], items: number): Group | undefined {
  const [first] = groups;
  return items >= 100 && first !== undefined && first.count > 0.8 * items ? first : undefined;
}
