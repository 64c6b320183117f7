/**
 * Comparison of the Redis engine with the in-memory queue, under random operations.
 *
 * `WORKQUEUE_RUNS=10000 deno task test tests/redis/model_test.ts` runs more operations, which differ from run to run. A
 * failure prints the seed and the shortest failing sequence. `twins.ts` lists all deliberate differences.
 */

import { assert, assertEquals } from "@std/assert";
import type { LimiterConfig } from "@workqueue/core";
import * as fc from "fast-check";
import process from "node:process";
import { redisTest, uniqueName } from "./redis_tests.ts";
import { TimedServer } from "./timed_server.ts";
import { type NamedDifference, type Operation, Twins } from "./twins.ts";

const given = process.env["WORKQUEUE_RUNS"];
const RUNS = Number(given ?? 690);
const SEED = given === undefined ? { seed: 12 } : {};

/** Keys in non-alphabetical order. */
const KEYS = ["c", "a", "e", "b", "d"];
const key = fc.constantFrom(...KEYS);
const keys = fc.oneof({ weight: 3, arbitrary: key.map((one) => [one]) }, fc.array(key, { minLength: 1, maxLength: 4 }));
const which = fc.nat(7);
const delay = fc.integer({ min: -1, max: 25 });
const kind = fc.constantFrom("done", "succeeded", "requeueAfter", "retry", "failed", "failed", "handedBack", "givenUp");
const end = fc.record({ which, kind, delay });

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("add"), keys }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("addAfter"), keys, delay }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("addRateLimited"),
      key,
      minDelay: fc.constantFrom(0, 0, 3, 20),
      byHolder: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cancelDelayed"), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("promoteDelayed"), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget"), key }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant("turn"), ends: fc.array(end, { maxLength: 2 }), wanted: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("endStale"), which, kind }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("pass"), units: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pass"), units: fc.integer({ min: 1, max: 9_000_000 }) }) },
) as fc.Arbitrary<Operation>;

const BACKOFF = { type: "exponential", baseDelay: 20, maxDelay: 320 } as const;
// The rate is chosen so that no two tokens arrive at the same multiple of `UNIT`.
const SHARED = { type: "bucket", rate: 3.7123, burst: 2 } as const;

interface Variant {
  readonly addWhileDelayed: "keep" | "replace" | "fold";
  readonly hasItems: boolean;
  readonly limiter: LimiterConfig;
}

const VARIANTS: readonly Variant[] = [
  { addWhileDelayed: "keep", hasItems: false, limiter: BACKOFF },
  { addWhileDelayed: "keep", hasItems: true, limiter: { type: "max-of", limiters: [BACKOFF, SHARED] } },
  { addWhileDelayed: "replace", hasItems: false, limiter: { type: "max-of", limiters: [SHARED, BACKOFF] } },
  { addWhileDelayed: "replace", hasItems: true, limiter: BACKOFF },
  { addWhileDelayed: "fold", hasItems: false, limiter: BACKOFF },
  { addWhileDelayed: "fold", hasItems: true, limiter: { type: "max-of", limiters: [BACKOFF, SHARED] } },
];

const differences = new Map<NamedDifference, number>();

redisTest("model: the engine on Redis does what the queue in memory does", async ({ url }) => {
  await using server = await TimedServer.connect(url);
  let total = 0;
  const run = async (variant: Variant) => {
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 90, size: "max" }), async (operations) => {
      const name = uniqueName("twins");
      const twins = new Twins(server, { name, keys: KEYS, ...variant });
      try {
        for (const each of operations) await twins.do(each);
      } finally {
        await server.clear(name);
      }
      total += operations.length;
      for (const [name, times] of twins.differences) differences.set(name, (differences.get(name) ?? 0) + times);
    });
    await fc.assert(property, { numRuns: Math.ceil(RUNS / VARIANTS.length), ...SEED });
  };
  await Promise.all(VARIANTS.map(run)); // in parallel, because a run mostly waits for the server
  assert(total >= RUNS * 40, `${total} operations`);
  assertEquals([...differences.keys()].toSorted(), ["brought-forward-to-a-tie", "holder-overwrites", "one-payload"]);
});
