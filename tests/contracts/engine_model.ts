/**
 * Comparison of an engine with the in-memory queue, under random operations.
 *
 * With `WORKQUEUE_RUNS=10000` in the environment, there are more operations, which differ from run to run. A failure
 * prints the seed and the shortest failing sequence. `engine_twins.ts` lists all deliberate differences.
 */

import { assert, assertEquals } from "@std/assert";
import type { DisciplineConfig, LimiterConfig, RetryBudgetOptions } from "@workqueue/core";
import type { FinishKind } from "@workqueue/engine";
import * as fc from "fast-check";
import process from "node:process";
import { EVERY } from "../every.ts";
import { uniqueName } from "../redis/unique_name.ts";
import { type NamedDifference, type OpenEngine, type Operation, Twins } from "./engine_twins.ts";

const given = process.env["WORKQUEUE_RUNS"];
/**
 * Number of runs of a comparison. Orders have three times as many, because only one or two of their variants find some
 * mistakes. With each of five seeds, most planted bugs were found after at most 441 runs of orders, 108 runs without a
 * discipline, and 175 runs with a retry budget; three rare ones of groups, only with most seeds. `deno task test:every`
 * has three times as many runs.
 */
const RUNS: number = Number(given ?? (EVERY ? 690 : 230));
const SEED = given === undefined ? { seed: 12 } : {};

/** Keys in non-alphabetical order. Keys of one group begin with the same letter. */
const KEYS = ["c/2", "a/1", "c/1", "b/1", "a/2", "c/3"];
const key = fc.nat(KEYS.length - 1);
const keys = fc.oneof({ weight: 3, arbitrary: key.map((one) => [one]) }, fc.array(key, { minLength: 1, maxLength: 4 }));
const which = fc.nat(7);
const delay = fc.integer({ min: -1, max: 25 });
/** Relative frequency of each outcome. An outcome without a number doesn't compile. */
const FINISHES: Readonly<Record<FinishKind, number>> = {
  done: 1,
  succeeded: 1,
  requeueAfter: 1,
  retry: 1,
  failed: 2,
  handedBack: 1,
  givenUp: 1,
};
const kind = fc.constantFrom(
  ...Object.entries(FINISHES).flatMap(([kind, count]) => Array.from({ length: count }, () => kind as FinishKind)),
);
/** In the variants without priorities, all are `undefined`. */
const priority = fc.constantFrom(undefined, undefined, -2, 1, 2, 3);
const end = fc.record({ which, kind, delay, priority });

/** Operations on any queue, with their relative frequency. */
const anyQueue = [
  { weight: 6, arbitrary: fc.record({ do: fc.constant("add"), keys, priority }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("addAfter"), keys, delay, priority }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("addRateLimited"),
      key,
      minDelay: fc.constantFrom(0, 0, 3, 20),
      byHolder: fc.boolean(),
      priority,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel"), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancelDelayed"), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("promoteDelayed"), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("forget"), key }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant("turn"), ends: fc.array(end, { maxLength: 2 }), wanted: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("endStale"), which, kind }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pass"), units: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pass"), units: fc.integer({ min: 1, max: 9_000_000 }) }) },
] as const;

/** Operations on the groups of a queue. Pauses are frequent and short, so that mistakes with them are found soon. */
const onGroups = [
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pauseGroup"), key, units: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resumeGroup"), key }) },
] as const;

const plainOperation = fc.oneof(...anyQueue) as fc.Arbitrary<Operation>;
const fairOperation = fc.oneof(...anyQueue, ...onGroups) as fc.Arbitrary<Operation>;

const BACKOFF = { type: "exponential", baseDelay: 20, maxDelay: 320 } as const;
// The rate is chosen so that no two tokens arrive at the same multiple of `UNIT`.
const SHARED = { type: "bucket", rate: 3.7123, burst: 2 } as const;

/** Options of the queues that are compared. */
interface Variant {
  readonly addWhileDelayed: "keep" | "replace" | "fold";
  readonly hasItems: boolean;
  readonly limiter: LimiterConfig;
  readonly discipline?: DisciplineConfig;
  readonly retryBudget?: RetryBudgetOptions;
  readonly retriesFirst?: boolean;
}

// Differences of head starts and intervals of rates are far from multiples of `UNIT`, because the time of an engine
// advances by a few microseconds with each call.
const AGING = { type: "priority", min: -1, max: 2, maxHeadStart: 36.6 } as const;
const STRICT = { type: "priority", min: -1, max: 2, maxHeadStart: "unlimited" } as const;
const FAIR = { type: "fair", separator: "/" } as const;
const weights = { a: 2, b: 0.5 };

/** Disciplines that are compared, by type. A discipline of the core without an entry doesn't compile. */
const CONFIGS: Readonly<Record<DisciplineConfig["type"], readonly DisciplineConfig[]>> = {
  priority: [AGING, STRICT],
  fair: [
    { ...FAIR, weights },
    { ...FAIR, maxPerGroup: 1 },
    { ...FAIR, maxPerGroup: 2, weights, within: AGING },
    { ...FAIR, ratePerGroup: { rate: 1000 / 17, burst: 2 }, within: STRICT },
    { ...FAIR, ratePerGroup: { rate: 1000 / 27, burst: 1 }, maxPerGroup: 1 },
  ],
};

/** Variants with a discipline. */
const DISCIPLINES: readonly Variant[] = Object.values(CONFIGS).flat().map((discipline, i) => ({
  addWhileDelayed: (["keep", "replace", "fold"] as const)[i % 3]!,
  hasItems: i % 2 === 1,
  limiter: BACKOFF,
  discipline,
}));

/** Variants without a discipline. */
const VARIANTS: readonly Variant[] = [
  { addWhileDelayed: "keep", hasItems: false, limiter: BACKOFF },
  { addWhileDelayed: "keep", hasItems: true, limiter: { type: "max-of", limiters: [BACKOFF, SHARED] } },
  { addWhileDelayed: "replace", hasItems: false, limiter: { type: "max-of", limiters: [SHARED, BACKOFF] } },
  { addWhileDelayed: "replace", hasItems: true, limiter: BACKOFF },
  { addWhileDelayed: "fold", hasItems: false, limiter: BACKOFF },
  { addWhileDelayed: "fold", hasItems: true, limiter: { type: "max-of", limiters: [BACKOFF, SHARED] } },
];

/** Limiter whose retries are never due together with another key. */
const STEPS = { type: "steps", delays: [25, 45, 85, 165, 325] } as const;

/** Variants with a retry budget. */
const BUDGETS: readonly Variant[] = ([
  [VARIANTS[0]!, { ratio: 0, minRate: 1000 / 37.95 }],
  [VARIANTS[2]!, { ratio: 0.5, minRate: 1000 / 137.95 }],
  [VARIANTS[5]!, { ratio: 0.3, minRate: 1000 / 137.95 }],
  [VARIANTS[1]!, { ratio: 2, minRate: 0 }],
  [DISCIPLINES[0]!, { ratio: 0.7, minRate: 1000 / 37.95 }],
  [DISCIPLINES[1]!, { ratio: 0.3, minRate: 1000 / 87.95 }],
  [DISCIPLINES[4]!, { ratio: 0.5, minRate: 1000 / 87.95 }],
] as const).map(([variant, retryBudget]) => ({ ...variant, limiter: STEPS, retryBudget }));

/** Variants whose retries go first. */
const RETRIES_FIRST: readonly Variant[] = [VARIANTS[0]!, VARIANTS[2]!, VARIANTS[5]!, BUDGETS[1]!, BUDGETS[2]!]
  .map((variant) => ({ ...variant, retriesFirst: true }));

/** Returns an operation for a queue without priorities. */
function withoutPriority(operation: Operation): Operation {
  if (operation.do === "turn") {
    return { ...operation, ends: operation.ends.map((end) => ({ ...end, priority: undefined })) };
  }
  return { ...operation, priority: undefined } as Operation;
}

/** Store of the queues of a comparison. */
export interface TwinStore {
  readonly open: OpenEngine;
  /** Removes the stored data of a queue. */
  clear(name: string): Promise<void>;
}

/** Result of a comparison. */
interface Compared {
  /** Number of operations. */
  readonly operations: number;
  readonly differences: ReadonlySet<NamedDifference>;
}

/** Compares queues of each variant with queues in memory, under random operations. */
async function compare(
  { open, clear }: TwinStore,
  variants: readonly Variant[],
  { runs = RUNS } = {},
): Promise<Compared> {
  let operations = 0;
  const differences = new Set<NamedDifference>();
  const run = async (variant: Variant) => {
    const operation = variant.discipline?.type === "fair" ? fairOperation : plainOperation;
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 90, size: "max" }), async (all) => {
      const name = uniqueName("twins");
      const twins = new Twins(open, { name, keys: KEYS, ...variant });
      try {
        for (const each of all) await twins.do(variant.discipline === undefined ? withoutPriority(each) : each);
      } finally {
        await clear(name);
      }
      operations += all.length;
      for (const difference of twins.differences.keys()) differences.add(difference);
    });
    await fc.assert(property, { numRuns: Math.ceil(runs / variants.length), ...SEED });
  };
  await Promise.all(variants.map(run)); // in parallel, because a run mostly waits for the store
  return { operations, differences };
}

/** Registers a test with a store. */
export type TwinTest = (name: string, run: (store: TwinStore) => Promise<void>) => void;

/** Registers the comparisons of an engine with the queue in memory. `twinTest` registers a test. */
export function engineModel(twinTest: TwinTest): void {
  twinTest("rules 12 and 13: an engine orders items as the queue in memory does", async (store) => {
    const { operations } = await compare(store, DISCIPLINES, { runs: 3 * RUNS });
    assert(operations >= RUNS * 105, `${operations} operations`);
  });

  twinTest("model: an engine does the same as the queue in memory", async (store) => {
    const { operations, differences } = await compare(store, VARIANTS);
    assert(operations >= RUNS * 40, `${operations} operations`);
    assertEquals([...differences].toSorted(), ["brought-forward-to-a-tie", "holder-overwrites", "one-payload"]);
  });

  twinTest("rule 12: an engine puts retries first as the queue in memory does", async (store) => {
    const { operations } = await compare(store, RETRIES_FIRST);
    assert(operations >= RUNS * 33, `${operations} operations`);
  });

  twinTest("rule 18: an engine blocks retries as the queue in memory does", async (store) => {
    const { operations } = await compare(store, BUDGETS);
    assert(operations >= RUNS * 33, `${operations} operations`);
  });
}
