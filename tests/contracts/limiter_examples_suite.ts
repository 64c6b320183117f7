/**
 * Comparison of the limiters of an engine with the in-memory limiters, for the example of each built-in type. A new
 * type is compared without being listed here.
 */

import { assertEquals } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { builtIns } from "../../docs/generate/built_ins.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { HandClock } from "../helpers.ts";
import { CountedFailures } from "./counted_failures.ts";
import { START } from "./engine_bench.ts";
import type { LimiterTest, Step } from "./limiter_steps.ts";

const FAILURES = 12;

/** Registers a test for each built-in limiter. `limiterTest` registers a test. */
export function limiterExamplesSuite(limiterTest: LimiterTest): void {
  for (const { example } of builtIns) {
    limiterTest(`limiters: the example of "${example.type}" has the same delays as in memory`, async (runner) => {
      const clock = new HandClock();
      const random = () => 0.5;
      const document = { queues: { q: { limiter: example } } };
      const { limiter } = loadConfig(document, { clock, random }).describe("q");
      const memory = limiter.create();
      const plan = planLimiter("plan", limiter, { random });
      const counted = new CountedFailures(clock);
      const steps: Step[] = [];
      const expected: number[] = [];
      for (let failures = 0; failures < FAILURES; failures++) {
        const time = START + clock.time * 1000;
        const failed = { startedAt: clock.time, minDelay: 0, forgetAfter: undefined };
        expected.push(counted.fail(memory, "a/1", failed).delay, counted.numRequeues(memory, "a/1"));
        const given = plan.given(failures, { key: "a/1", item: "a/1", isReadable: true, minDelay: 0 });
        steps.push(["when", time, plan.rules, "a/1", given], ["requeues", time, plan.rules, "a/1"]);
        clock.time += Math.ceil(expected.at(-2)!); // the retry fails at once
      }
      assertEquals((await runner.run(...steps)).map(([answer]) => answer), expected);
    });
  }
}
