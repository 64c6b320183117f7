import type { Group } from "../api.ts";

/** How many groups are told of. */
const MAX_GROUPS = 50;

/** What ends the first part of a key, where the config names nothing. */
const SEPARATORS = /[/:|]/;

/** Counts items by the first part of their keys, the most first. Keys of which none has parts are in no groups. */
export function groupsOf(keys: readonly string[], separator: string | undefined): Group[] {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const end = separator === undefined ? key.search(SEPARATORS) : key.indexOf(separator);
    if (end > 0) counts.set(key.slice(0, end), (counts.get(key.slice(0, end)) ?? 0) + 1);
  }
  return Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count).slice(
    0,
    MAX_GROUPS,
  );
}

/** The group that most of the items are of, if there is one: more than 80 % of 100 or more. */
export function hotGroup(groups: readonly Group[], items: number): Group | undefined {
  const [first] = groups;
  return items >= 100 && first !== undefined && first.count > 0.8 * items ? first : undefined;
}
