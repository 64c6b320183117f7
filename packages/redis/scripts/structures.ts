/** Structures that have an entry for a key. */
export const SORTED_SETS = ["ready", "stalled", "suspects", "delayed", "failing", "givenup", "blockedretries"];
export const HASHES = [
  "priorities",
  "duepriorities",
  "traces",
  "items",
  "failures",
  "errors",
  "failingsince",
  "stalls",
  "reasons",
  "retries",
  "dueretries",
];

/** All structures of a queue at rest, except for those of its order and of owners. */
export const STRUCTURES: readonly string[] = [
  ...SORTED_SETS,
  ...HASHES,
  "folding",
  "holders",
  "owners",
  "gaps",
  "expired",
  "lost",
  "idle",
  "looks",
  "pausedgroups",
  "buckets",
  "pastorders",
  "deposits",
  "redrive",
  "export",
];

/** Structures that are empty if a queue has no keys, no redrive and no former order. */
export const WITH_KEYS: readonly string[] = [
  ...["ready", "stalled", "suspects", "delayed", "holders", "blockedretries", "givenup"],
  ...["expired", "pastorders", "export"],
];

/** Structures of the order of a queue without ready keys. Their names begin with the prefix of the order. */
export const OF_ORDER: readonly string[] = [
  ...["line", "raised", "groups", "turns", "changing", "kept", "idle", "blocked", "weights"],
];

/** Returns names as a table in Lua. */
export const inLua = (names: readonly string[]) => `{ ${names.map((name) => `'${name}'`).join(", ")} }`;
