import { assert, assertEquals, assertThrows } from "@std/assert";
import { createStepsLimiter, type Duration, limiters, loadConfig } from "@workqueue/core";
import { HandClock, issuesOf } from "../helpers.ts";
import { badDurations, delays, DURATION, errorFor, RETRY } from "./helpers.ts";

Deno.test("steps: each failure of an item has its own delay, and the last one repeats", () => {
  const limiter = createStepsLimiter({ delays: ["5s", "5m", 1500] });
  assertEquals(delays(limiter, "one", 5), [5000, 300_000, 1500, 1500, 1500]);
  assertEquals(delays(limiter, "two", 2), [5000, 300_000]);
  assertEquals([limiter.numRequeues("one"), limiter.numRequeues("two")], [5, 2]);

  limiter.forget("one");
  assertEquals([limiter.numRequeues("one"), limiter.numRequeues("two")], [0, 2]);
  assertEquals(limiter.when("one"), 5000);
});

Deno.test("steps: one delay is enough, and thousands of failures change nothing", () => {
  const limiter = createStepsLimiter({ delays: [0] });
  assertEquals(delays(limiter, "a", 5000), new Array(5000).fill(0));
  assertEquals(limiter.numRequeues("a"), 5000);
});

Deno.test("steps: the delay after any number of failures can be computed without a failure", () => {
  const limiter = createStepsLimiter({ delays: [5, 300, 20] });
  assertEquals([1, 2, 3, 4, 1e9].map((failures) => limiter.next!(failures, "a", "a", RETRY)), [5, 300, 20, 20, 20]);
  assertEquals(limiter.numRequeues("a"), 0);
});

Deno.test("steps: failures can be forgotten, and then an item begins with the first delay again", () => {
  const clock = new HandClock();
  const limiter = createStepsLimiter({ delays: [10, 20, 30], forgetAfter: "1s", clock });
  assertEquals(delays(limiter, "a", 2), [10, 20]);
  clock.time = 1019;
  assertEquals(limiter.when("a"), 30);
  clock.time += 1030;
  assertEquals(delays(limiter, "a", 2), [10, 20]);
});

Deno.test("steps: changing the list afterwards changes nothing", () => {
  const list: Duration[] = [1, 2];
  const limiter = createStepsLimiter({ delays: list });
  list[0] = 50;
  list.push(60);
  assertEquals(delays(limiter, "a", 3), [1, 2, 2]);
});

Deno.test("steps: invalid options are refused, with the option, the rule and the value", () => {
  const LIST = "'delays' must be a list of 1 to 1000 durations";
  const values: [delays: unknown, received: string][] = [
    [[], "an array"],
    [new Array(1001).fill(5), "an array"],
    ["5s", '"5s"'],
    [5, "5"],
    [null, "null"],
    [{ 0: 5, length: 1 }, "an object"],
    [new Set([5]), "an object"],
  ];
  const cases = [
    ...values.map(([delays, got]) => [{ delays }, `${LIST}, got ${got}`, ...errorFor(delays)] as const),
    ...badDurations("delays", {}).map(([options, rest, ...ErrorClass]) =>
      [
        { delays: ["5s", (options as { delays: unknown }).delays] },
        rest.replace("'delays'", "'delays[1]'"),
        ...ErrorClass,
      ] as const
    ),
    [{ delays: [undefined] }, `'delays[0]' ${DURATION}, got undefined`] as const,
    ...badDurations("forgetAfter", { delays: [5] }),
    [
      {},
      "missing required option 'delays' (delay after each failure of an item, in order. The last delay repeats)",
    ] as const,
    [{ delay: [5], delays: [5] }, `"delay" is not an option here; did you mean "delays"?`] as const,
    [
      { delays: [5], clock: 5 },
      "'clock' must have timers, and a finite now(), got 5",
      RangeError,
    ] as const,
  ];
  for (const [options, rest, ErrorClass = TypeError] of cases) {
    const { message } = assertThrows(() => createStepsLimiter(options as never), ErrorClass);
    assertEquals(message, `Cannot create steps limiter: ${rest}`);
  }
});

Deno.test("steps: in a config, each invalid delay is reported at its place", () => {
  const config = { type: "steps", delays: ["5s", "5 minutes", -1] } as const;
  assertEquals(issuesOf(() => limiters.build(config)), [
    { path: "/delays/1", message: `'delays[1]' ${DURATION}, got "5 minutes"` },
    { path: "/delays/2", message: `'delays[2]' ${DURATION}, got -1` },
  ]);
});

Deno.test("steps: a reload changes the delays, and keeps the counts", () => {
  const document = (...delays: Duration[]) => ({ limiters: { a: { type: "steps", delays } } });
  const config = loadConfig(document("5s", "5m", "30m"));
  const limiter = config.limiter("a");
  assertEquals(delays(limiter, "x", 2), [5000, 300_000]);

  assertEquals(config.reload(document(5000, "300s", "0.5h")), []); // the same list, written differently
  const changes = config.reload(document("5s", "5m", "2m"));
  assertEquals(changes, [{
    path: "/limiters/a/delays",
    old: [5000, 300_000, 1_800_000],
    new: [5000, 300_000, 120_000],
    inForce: "now",
  }]);
  assert(config.limiter("a") === limiter);
  assertEquals([limiter.when("x"), limiter.next!(2, "x", "x", RETRY)], [120_000, 300_000]);
  assertEquals(config.reload(document("5s", "5m", "2m", "1h")).length, 1); // a longer list
  assertEquals(limiter.when("x"), 3_600_000);
  config.reload(document("1s")); // a shorter list
  assertEquals([limiter.when("x"), limiter.when("y")], [1000, 1000]);
});
