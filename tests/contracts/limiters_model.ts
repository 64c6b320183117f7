/** Comparison of the limiters of an engine with the in-memory limiters, under random configs and calls. */

import { assert, assertEquals } from "@std/assert";
import { defineLimiter, limiters, loadConfig } from "@workqueue/core";
import fc from "fast-check";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { HandClock } from "../helpers.ts";
import { CountedFailures } from "./counted_failures.ts";
import { START } from "./engine_bench.ts";
import type { LimiterTest, Step } from "./limiter_steps.ts";
import { limiterConfig, OUTERMOST } from "./random_limiters.ts";

/** Milliseconds, about 190 years. Engines keep no later times than the year 2255. */
const FAR = 6e12;

const linear = defineLimiter({
  type: "linear",
  description: "",
  options: { step: { kind: "duration", description: "" } },
  create({ step }) {
    const failures = new Map<unknown, number>();
    const count = (key: unknown) => failures.get(key) ?? 0;
    return {
      next: (failures) => failures * step,
      when(item, key = item) {
        failures.set(key, count(key) + 1);
        return count(key) * step;
      },
      forget: (item, key = item) => void failures.delete(key),
      numRequeues: (item, key = item) => count(key),
    };
  },
});
const registry = limiters.extend().register(linear);

// Whole milliseconds plus half a microsecond. A failure is therefore never forgotten at exactly the microsecond of a
// call, for which the reference may round differently.
const forgetAfter = fc.option(fc.integer({ min: 0, max: 5000 }).map((ms) => ms + 0.0005), { nil: undefined });
const delay = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.constantFrom(0, 0.001, 0.3, 1e7, 1e12));
const rate = fc.oneof(
  fc.double({ min: 0, max: 1000, noNaN: true }),
  fc.integer({ min: 1, max: 20 }),
  fc.constantFrom(0, Infinity, 1e-12, 1e9, Number.MIN_VALUE, Number.MAX_VALUE),
);
const burst = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 5 }) }, fc.constant(2 ** 53 - 1));
const NAMES = ["one", "two", "three"];

/** Generates the config of a limiter. The config may refer to any of the first `names` elements of `NAMES`. */
function config(names: number): fc.Arbitrary<object> {
  const maxDelay = fc.constantFrom(1e13, 1e300);
  const values = { "exponential": { maxDelay }, "bucket": { rate, burst } };
  return limiterConfig({ registry, names: NAMES.slice(0, names), delay, values });
}

const document = fc.record({
  one: config(0),
  two: config(1),
  three: config(2),
  limiter: fc.oneof(
    { weight: 2, arbitrary: config(3) },
    { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom(...OUTERMOST), limiter: config(3) }) },
  ),
  forgetAfter,
}).map(({ limiter, forgetAfter, ...limiters }) => ({ limiters, queues: { q: { limiter, forgetAfter } } }));

const KEYS = ["a/1", "a/2", "b/1", "b", "", "a::1", "é1", "a/1::é/2", "\u{1f600}/\0"];
const key = fc.constantFrom(...KEYS);
const wait = fc.oneof(
  fc.constantFrom(1, 1, 1000),
  fc.integer({ min: 1, max: 5_000_000 }),
  fc.integer({ min: 1, max: 10_000_000_000_000 }), // about a hundred days
);
const calls = fc.array(
  fc.record({
    what: fc.oneof(
      { weight: 5, arbitrary: fc.constant("when") },
      { weight: 2, arbitrary: fc.constantFrom("when by hand", "forget", "requeues") },
    ),
    wait,
    key,
    lasts: fc.integer({ min: 0, max: 2_000_000 }),
    minDelay: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000_000 })),
  }),
  { minLength: 1, maxLength: 40, size: "max" },
);

/**
 * Reports whether two numbers are equal, except for the engine's rounding to microseconds or the last digits of very
 * long delays.
 */
function isClose(a: number, b: number): boolean {
  if (Math.min(a, b) > FAR) return true;
  return Math.abs(a - b) <= Math.max(0.001, Math.abs(a) * 1e-12);
}

/**
 * Milliseconds by which attempts begin later for the reference, so that no attempt begins at exactly the time that is
 * barely not early, for which the reference may round differently.
 */
const LATER = 0.0003;

/** Registers the comparison of an engine with the limiters in memory. `limiterTest` registers a test. */
export function limitersModel(limiterTest: LimiterTest): void {
  limiterTest("limiters: random configs and calls have the same delays as in memory", async (runner) => {
    let [delays, ignored] = [0, 0];
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(document, calls, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), async (
        document,
        calls,
        stream,
      ) => {
        await runner.clear();
        // The clock starts at 0, because milliseconds since 1970 can't represent exact microseconds.
        const clock = new HandClock();
        const drawn: number[] = [];
        const random = () => {
          drawn.push(stream.next().value);
          return drawn.at(-1)!;
        };
        for (const [, type] of JSON.stringify(document).matchAll(/"type":"([^"]*)"/g)) seen.add(type!);
        const { limiter, forgetAfter } = loadConfig(document, { limiters: registry, clock, random }).describe("q");
        const memory = limiter.create();
        const plan = planLimiter("plan", limiter, { random: () => drawn.shift()!, forgetAfter });

        const failures = new CountedFailures(clock);
        const steps: Step[] = [];
        const expected: (number | undefined)[] = [];
        let time = 0;
        for (const { what, wait, key, lasts, minDelay } of calls) {
          time += wait;
          clock.time = time / 1000;
          if (what === "when" || what === "when by hand") {
            const isByHand = what === "when by hand";
            const before = failures.count(key);
            const { delay, isCounted } = failures.fail(memory, key, {
              startedAt: isByHand ? undefined : (time - lasts) / 1000 + LATER,
              minDelay: minDelay / 1000,
              forgetAfter,
            });
            expected.push(delay);
            const isIgnored = !isCounted && memory.countsFailures !== false;
            const failed = { key, item: key, isReadable: true, startedAt: 0, minDelay: 0 };
            const given = isIgnored ? "[-1,0]" : plan.given(before, failed); // the engine doesn't look at it
            if (isByHand) steps.push([what, START + time, plan.rules, key, given, minDelay]);
            else steps.push([what, START + time, plan.rules, key, given, START + time - lasts, minDelay]);
            if (isIgnored) ignored++;
            assertEquals(drawn.length, 0);
            delays++;
          } else if (what === "forget") {
            failures.forget(key);
            expected.push(undefined);
            steps.push(["forget", START + time, key]);
          } else {
            expected.push(failures.numRequeues(memory, key));
            steps.push(["requeues", START + time, plan.rules, key]);
          }
        }
        const answers = await runner.run(...steps);
        for (const [i, [answer]] of answers.entries()) {
          const [ours, theirs] = [answer, expected[i]];
          assert(
            ours === theirs || isClose(ours!, theirs!),
            `step ${i}: ${JSON.stringify(steps[i])} gives ${ours}, and in memory ${theirs}`,
          );
        }
      }),
      { seed: 12, numRuns: 1500 },
    );
    assertEquals([...seen].sort(), registry.types().sort());
    assert(delays > 15_000 && ignored > 500, `${delays} delays, ${ignored} ignored`);
  });
}
