/**
 * Comparison of a bucket of an engine with an in-memory bucket, under random calls and changes of rate and burst.
 */

import { assert } from "@std/assert";
import { createBucketLimiter, limiters } from "@workqueue/core";
import fc from "fast-check";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { HandClock } from "../helpers.ts";
import { START } from "./engine_bench.ts";
import type { LimiterTest, Step } from "./limiter_steps.ts";

const rate = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0.01, max: 100, noNaN: true }));
const burst = fc.integer({ min: 1, max: 20 });
const changed = fc.record({
  rate: fc.oneof({ weight: 5, arbitrary: rate }, fc.constantFrom(0, Infinity)),
  burst: fc.oneof({ weight: 5, arbitrary: burst }, fc.constant(0)),
});
const calls = fc.array(
  fc.record({
    wait: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000_000 }), fc.integer({ min: 1, max: 10_000_000_000 })),
    change: fc.option(changed, { freq: 2, nil: undefined }),
    /**
     * Number of tokens to take, as far as they are available. If `undefined`, the operation calls the limiter instead,
     * which may reserve future tokens.
     */
    wanted: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 30, size: "max" },
);

/** Registers the comparison of an engine with the buckets in memory. `limiterTest` registers a test. */
export function bucketChangesModel(limiterTest: LimiterTest): void {
  limiterTest(
    "bucket: random changes of rate and burst have the same effect as setRate and setBurst",
    async (runner) => {
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(rate, burst, calls, async (rate, burst, calls) => {
          await runner.clear();
          const clock = new HandClock();
          const memory = createBucketLimiter({ rate, burst, clock });
          let time = 0;
          let config = { rate, burst };
          const steps: Step[] = [];
          const expected: number[] = [];
          const call = (wanted: number | undefined) => {
            const at = START + time;
            if (wanted === undefined) {
              const plan = planLimiter("plan", limiters.describe({ type: "bucket", ...config }));
              const given = plan.given(0, { key: "a", item: "a", isReadable: true, minDelay: 0 });
              steps.push(["when", at, plan.rules, "a", given]);
              expected.push(memory.when("a"));
            } else {
              const plan = [
                ".",
                String(Number.isFinite(config.rate) ? config.rate : -1),
                String(config.burst),
              ] as const;
              steps.push(["take", at, ...plan, wanted]);
              let count = 0;
              while (count < wanted && memory.bucket.allow()) count++;
              expected.push(count);
            }
          };
          call(1); // the engine has no data about a bucket before its first use
          for (const { wait, change, wanted } of calls) {
            time += wait;
            clock.time = time / 1000;
            if (change !== undefined) {
              config = change;
              memory.bucket.setRate(change.rate);
              memory.bucket.setBurst(change.burst);
            }
            call(wanted);
          }
          const answers = (await runner.run(...steps)).map(([answer]) => answer);
          for (const [i, answer] of answers.entries()) {
            const [ours, theirs] = [answer!, expected[i]!];
            // Delays may differ by one microsecond, because the engine rounds to microseconds. Very long delays may
            // differ in the last digits.
            const isClose = steps[i]![0] === "when" && Math.abs(ours - theirs) <= Math.max(0.001, theirs * 1e-9);
            assert(
              ours === theirs || isClose,
              `step ${i}: ${JSON.stringify(steps[i])} gives ${ours}, and in memory ${theirs}`,
            );
            if (steps[i]![0] === "take") taken += ours;
          }
        }),
        { seed: 13, numRuns: 200 },
      );
      assert(taken > 1000, `${taken} tokens`);
    },
  );
}
