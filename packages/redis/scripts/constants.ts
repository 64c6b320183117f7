import type { GiveUpReason } from "@workqueue/core";
import { FORMAT } from "./format.ts";

/** Message that tells a process to renew its leases. Any other message is the time until there may be work. */
export const RENEW = "renew";

/** Reply to a process that knows the queue from before the server has lost it. */
export const GONE = "WQGONE The server has lost the queue";

/** Fields of `meta` that count given-up keys, by reason. */
export const GIVEN_UP_FOR: Readonly<Record<GiveUpReason, string>> = {
  maxRetries: "givenUp:maxRetries",
  terminal: "givenUp:terminal",
  shutdown: "givenUp:shutdown",
  stalled: "givenUp:stalled",
  limiter: "givenUp:limiter",
};

/** Counts in `meta`. */
const COUNTS = ["handedOut", "failed", "dropped", "givenUp", ...Object.values(GIVEN_UP_FOR)];

/** Structures that have an entry for a key. */
const SORTED_SETS = ["ready", "stalled", "suspects", "delayed", "failing", "givenup", "blockedretries"];
const HASHES = [
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
  "telling",
  "waitends",
  "buckets",
  "pastorders",
  "deposits",
  "redrive",
  "export",
];

/** Structures that are empty if a queue has no keys, no redrive and no former order. */
const WITH_KEYS = [
  ...["ready", "stalled", "suspects", "delayed", "holders", "blockedretries", "givenup"],
  ...["expired", "pastorders", "export"],
];

/** Structures of the order of a queue without ready keys. Their names begin with the prefix of the order. */
const OF_ORDER = ["line", "raised", "groups", "turns", "changing", "kept", "idle", "blocked", "weights"];

/** Fields of `meta` that most queues don't have. Scripts read them if the field `more` is there. */
const RARE_FIELDS = ["moving", "until", "redrive", "traces", "budget", "cancels", "waits", "adds", "first"];

/** Values that Lua uses by their names. */
const CONSTANTS: Readonly<Record<string, string | readonly string[]>> = {
  FORMAT,
  RENEW,
  GONE,
  COUNTS,
  SORTED_SETS,
  HASHES,
  STRUCTURES,
  WITH_KEYS,
  OF_ORDER,
  RARE_FIELDS,
};

/** Lua that declares the constants. */
export const constants: string = Object.entries(CONSTANTS).map(([name, value]) => {
  const inLua = typeof value === "string" ? `'${value}'` : `{ ${value.map((each) => `'${each}'`).join(", ")} }`;
  return `local ${name} = ${inLua}\n`;
}).join("");
