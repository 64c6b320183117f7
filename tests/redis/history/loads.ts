/** Loads whose histories are checked, by name. */

import type { Rules } from "./check.ts";
import type { Load } from "./load.ts";

const STEPS = 800;
const FAIR = { type: "fair", separator: "/" } as const;
const AGING = { type: "priority", min: 0, max: 3, maxHeadStart: "3s" } as const;
const STRICT = { type: "priority", min: 0, max: 3, maxHeadStart: "unlimited" } as const;
const RATE = { rate: 10, burst: 2 };
const WEIGHTS: Readonly<Record<string, number>> = { a: 1, b: 2, c: 0.5 };

/** Head start of strict priorities per point, in milliseconds: longer than any load. */
const ALWAYS = 1e9;

export const LOADS = {
  "first in, first out": { seed: 1, steps: STEPS },
  "delays": { seed: 7, steps: STEPS, isDelayed: true },
  "a bucket": { seed: 2, steps: STEPS, bucket: { id: "b", rate: 20, burst: 3 } },
  "priorities that age": { seed: 3, steps: STEPS, discipline: AGING },
  "strict priorities": { seed: 4, steps: STEPS, discipline: STRICT },
  "groups with a limit": { seed: 5, steps: STEPS, discipline: { ...FAIR, maxPerGroup: 2, within: AGING } },
  "groups with a rate": { seed: 8, steps: STEPS, hasPauses: true, discipline: { ...FAIR, ratePerGroup: RATE } },
  "pauses": { seed: 9, steps: STEPS, hasPauses: true, discipline: { ...FAIR, maxPerGroup: 2 } },
  "a retry budget": { seed: 10, steps: STEPS, hasPauses: true, retryBudget: { ratio: 0.1, minRate: 5 } },
  "keys that are given up, and orders that change": { seed: 11, steps: STEPS, hasGiveUps: true, discipline: FAIR },
  "groups with weights": { seed: 6, steps: 200, isBacklog: true, discipline: { ...FAIR, weights: WEIGHTS } },
} as const satisfies Record<string, Load>;

/** Returns the rules for the history of a load. */
export function rulesOf({ discipline, isBacklog = false, hasGiveUps = false }: Load): Rules {
  const groupOf = (key: string) => key.split("/", 1)[0]!;
  const { maxPerGroup, ratePerGroup, within } = (discipline ?? {}) as {
    readonly maxPerGroup?: number;
    readonly ratePerGroup?: typeof RATE;
    readonly within?: typeof AGING;
  };
  const inner = discipline?.type === "priority" ? discipline : within;
  const point = inner === undefined ? 0 : inner.maxHeadStart === "unlimited" ? ALWAYS : 1000;
  return {
    isComplete: true,
    groupOf,
    order: hasGiveUps ? undefined : {
      headStart: (priority) => priority * point,
      ...discipline?.type === "fair" && { groupOf },
    },
    groups: maxPerGroup === undefined ? undefined : { groupOf, maxPerGroup },
    groupRate: ratePerGroup && { groupOf, ...ratePerGroup },
    turns: isBacklog ? { groupOf, weightOf: (group) => WEIGHTS[group]! } : undefined,
  };
}
