import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createJitterLimiter,
  createMaxOfLimiter,
  limiters,
  loadConfig,
  type RateLimiter,
} from "@workqueue/core";
import { NOT_COUNTED } from "../../lib/base/brands.ts";
import { issuesOf } from "../helpers.ts";
import { randomNumbers } from "../queue_helpers.ts";
import { ATTEMPT, delays, NextRecorder, Recorder, RETRY } from "./helpers.ts";

const backoff = () => createExponentialLimiter({ baseDelay: 100, maxDelay: 1000 });

/** Returns a function that returns the given numbers, one per call. */
function sequence(...numbers: number[]): () => number {
  return () => numbers.shift()!;
}

Deno.test("jitter: subtracts a random part of up to 'spread' from the delay", () => {
  const half = createJitterLimiter(backoff(), { spread: 0.5, random: sequence(0, 0.5, 1, 0.2, 0) });
  assertEquals(delays(half, "a", 5), [100, 150, 200, 720, 1000]);
  const whole = createJitterLimiter(backoff(), { spread: 1, random: sequence(0, 0.25, 1) });
  assertEquals(delays(whole, "a", 3), [100, 150, 0]);
  const none = createJitterLimiter(backoff(), { spread: 0, random: sequence(0, 0.9, 1) });
  assertEquals(delays(none, "a", 3), [100, 200, 400]);
});

Deno.test("jitter: with given random numbers or the runtime's, delays spread over the whole range", () => {
  for (const options of [{ random: randomNumbers(3) }, {}, { random: undefined }]) {
    const all = delays(createJitterLimiter(new Recorder(1000), { spread: 0.5, ...options }), "a", 2000);
    assert(all.every((delay) => delay >= 500 && delay <= 1000));
    for (let from = 500; from < 1000; from += 50) {
      assert(all.some((delay) => delay >= from && delay <= from + 50), `none from ${from}`);
    }
  }
});

Deno.test("jitter: calls each method of the limiter once, with the item and its key", () => {
  const inner = new Recorder(80, 4);
  const limiter = createJitterLimiter<string>(inner, { spread: 0.5, random: () => 0 });
  assertEquals([limiter.when("item", 1, ATTEMPT), limiter.numRequeues("item", 2)], [80, 4]);
  limiter.forget("item", 3);
  limiter.when("item");
  assertEquals(inner.calls, [
    ["when", "item", 1, ATTEMPT],
    ["numRequeues", "item", 2],
    ["forget", "item", 3],
    ["when", "item", "item"],
  ]);
});

Deno.test("jitter: shortens the delays that a queue asks for, and passes on failures that are not counted", () => {
  const limiter = createJitterLimiter(backoff(), { spread: 0.5, random: sequence(0, 0.5, 1, 0.2, 0.5) });
  assertEquals([1, 2, 3, 4].map((failures) => limiter.next!(failures, "a", "a", RETRY)), [100, 150, 200, 720]);
  const ignoring = createJitterLimiter(new NextRecorder(NOT_COUNTED), { spread: 1, random: () => 0.5 });
  assertEquals(ignoring.next!(1, "a", "a", RETRY), NOT_COUNTED);
});

Deno.test("jitter: a random number that is not between 0 and 1 is an error, and no failure is counted", () => {
  const cases: [random: unknown, received: string][] = [
    [1.5, "1.5"],
    [-0.1, "-0.1"],
    [NaN, "NaN"],
    [undefined, "undefined"],
    [Infinity, "Infinity"],
  ];
  for (const [random, received] of cases) {
    const limiter = createJitterLimiter(backoff(), { spread: 0.5, random: () => random as number });
    const { message } = assertThrows(() => limiter.when("a"), Error);
    assertEquals(message, `Cannot spread delay: 'random()' must be a number from 0 to 1, got ${received}`);
    assertEquals(limiter.numRequeues("a"), 0);
    assertThrows(() => limiter.next!(1, "a", "a", RETRY), Error, message);
    const inner = new NextRecorder(1);
    assertThrows(() =>
      createJitterLimiter(inner, { spread: 0.5, random: () => random as number }).next!(1, "a", "a", RETRY)
    );
    assertEquals(inner.calls, []); // such as a bucket, which would take a token
  }
});

Deno.test("jitter: invalid arguments are refused, with the option, the rule and the value", () => {
  const cases: [limiter: unknown, options: unknown, ErrorClass: typeof RangeError | typeof TypeError, rest: string][] =
    [
      [backoff(), { spread: 1.1 }, RangeError, "'spread' must be a number from 0 to 1, got 1.1"],
      [backoff(), { spread: -0.1 }, RangeError, "'spread' must be a number from 0 to 1, got -0.1"],
      [backoff(), { spread: NaN }, RangeError, "'spread' must be a number from 0 to 1, got NaN"],
      [backoff(), { spread: "half" }, TypeError, `'spread' must be a number from 0 to 1, got "half"`],
      [backoff(), {}, TypeError, "missing required option 'spread' (largest fraction of a delay"],
      [backoff(), { spread: 1, random: 0.5 }, RangeError, "'random' must be a function, got 0.5"],
      [backoff(), { spread: 1, sprad: 1 }, TypeError, `"sprad" is not an option here; did you mean "spread"?`],
      [backoff(), { spread: 1, limiter: backoff() }, TypeError, `"limiter" is not an option here`],
      [backoff(), undefined, TypeError, "'options' must be an object, got undefined"],
      [backoff(), [0.5], TypeError, "'options' must be an object, got an array"],
      [undefined, { spread: 1 }, TypeError, "'limiter' must be a rate limiter, got undefined"],
      [{}, { spread: 1 }, TypeError, "'limiter' must be a rate limiter, got an object"],
    ];
  for (const [limiter, options, ErrorClass, rest] of cases) {
    const create = () => createJitterLimiter(limiter as RateLimiter, options as { spread: number });
    assertThrows(create, ErrorClass, `Cannot create jitter limiter: ${rest}`);
  }
});

Deno.test("jitter: works in a config, with the random numbers of the build, also around a limiter by name", () => {
  const random = () => 0.5;
  const limiter = limiters.build({ type: "jitter", limiter: { type: "bucket", rate: 0, burst: 1 }, spread: 1 }, {
    random,
  });
  assertEquals(limiter.when("a"), 0);
  const config = loadConfig({
    limiters: {
      backoff: { type: "exponential", baseDelay: "1s", maxDelay: "1m" },
      spread: { type: "jitter", limiter: "backoff", spread: 0.5 },
    },
    queues: {
      q: { limiter: { type: "max-of", limiters: ["spread", { type: "jitter", limiter: "backoff", spread: 0 }] } },
    },
  }, { random });
  assertEquals(config.limiter("spread").when("a"), 750);
  assertEquals(config.limiter("backoff").numRequeues("a"), 1);
  assertEquals(
    issuesOf(() => limiters.build({ type: "jitter", limiter: { type: "bucket", rate: 1, burst: 1 }, spread: 2 })),
    [{ path: "/spread", message: "'spread' must be a number from 0 to 1, got 2" }],
  );
});

Deno.test("jitter: inside a max-of limiter, the longest delay is still respected", () => {
  const limiter = createMaxOfLimiter(
    new Recorder(70),
    createJitterLimiter(new Recorder(100), { spread: 1, random: () => 1 }),
  );
  assertEquals(limiter.when("a"), 70);
});
