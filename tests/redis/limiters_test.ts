/**
 * Tests of limiters on a server. `tests/contracts/limiters_model.ts` checks that they match in-memory limiters.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  ConfigError,
  createDefaultControllerLimiter,
  defineLimiter,
  type LimiterConfig,
  type LimiterRegistry,
  limiters,
  loadConfig,
  NOT_COUNTED,
  type RateLimiter,
  TokenBucket,
  type WorkQueueConfig,
} from "@workqueue/core";
import fc from "fast-check";
import { builtIns } from "../../docs/generate/built_ins.ts";
import { idOf } from "../../packages/engine/source.ts";
import { planBucket, planLimiter, type PlanSettings, refuseSharedBuckets } from "../../packages/engine/limiter_plan.ts";
import { HandClock, issuesOf } from "../helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";
import type { EngineLimiter } from "../../packages/engine/engine.ts";
import type { Step } from "../contracts/limiter_steps.ts";
import { LimiterScript } from "./limiter_script.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

/** Start time in microseconds since 1970. Times since 1970 use most of a double's precision. */
const START = 1_800_000_000_000_000;
const SECOND = 1_000_000;

function planOf(
  config: LimiterConfig,
  registry: LimiterRegistry = limiters,
  settings?: PlanSettings,
): ReturnType<typeof planLimiter> {
  return planLimiter("create Redis queue", registry.describe(config as never), settings);
}

/** Returns the plan in a queue with the option `forgetAfter`. */
function passing(config: LimiterConfig = EXPONENTIAL, forgetAfter = 1000): EngineLimiter {
  return planOf(config, limiters, { forgetAfter });
}

/** Returns the input for a failure. */
function given(plan: EngineLimiter, key = "a", failures = 0): string {
  return plan.given(failures, { ...FAILED, item: key, key });
}

/** Returns a step that fails a key which has failed a number of times. */
function when(
  plan: EngineLimiter,
  time: number,
  key = "a",
  failures = 0,
  ...more: [started?: number, minDelay?: number]
): Step {
  return ["when", time, plan.rules, key, given(plan, key, failures), ...more];
}

function limiterTest(name: string, run: (script: LimiterScript) => Promise<void>): void {
  redisTest(`limiters: ${name}`, async ({ url }) => {
    await using script = await LimiterScript.connect(url, uniqueName("limiters"));
    await run(script);
  });
}

const EXPONENTIAL = { type: "exponential", baseDelay: 5, maxDelay: 1000 } as const;
/** Item that failed. */
const FAILED = { item: "a", key: "a", isReadable: true, startedAt: 5, minDelay: 7 };

limiterTest("the default limiter works like in memory over a thousand failures of many items", async (script) => {
  const clock = new HandClock();
  const memory = createDefaultControllerLimiter({ clock });
  const plan = planLimiter("plan", loadConfig({ queues: { q: {} } }).describe("q").limiter);
  const steps: Step[] = [];
  const expected: number[] = [];
  for (let i = 0; i < 1000; i++) {
    clock.time = i * 7;
    const key = `item ${i % 37}`;
    steps.push(when(plan, START + i * 7000, key, Math.floor(i / 37)));
    expected.push(memory.when(key));
  }
  assertEquals(await script.firsts(...steps), expected);
});

limiterTest(
  "one number per key is stored, and forgetting leaves nothing",
  async (script) => {
    const plan = planOf(EXPONENTIAL);
    await script.run(when(plan, START, "a"), when(plan, START, "b"), when(plan, START, "a", 1));
    assertEquals(await script.hash("HGETALL", "failures"), ["a", "2", "b", "1"]);
    assertEquals(await script.run(["failures", START, ["b", "none", "a"]]), [[1, 0, 2]]);
    await script.run(["forget", START, "a"], ["forget", START, "b"], ["forget", START, "none"]);
    assertEquals(await script.call("EXISTS", `${script.prefix}failures`, `${script.prefix}buckets`), 0);
  },
);

limiterTest("the failures of any number of keys are returned at once", async (script) => {
  await script.hash("HSET", "failures", "k0", "1", "k9998", "2");
  const keys = Array.from({ length: 9999 }, (_, i) => `k${i}`);
  const [failures] = await script.run(["failures", START, keys]);
  assertEquals([failures!.length, failures![0], failures![5000], failures![9998]], [9999, 1, 0, 2]);
});

limiterTest("a delay of zero stays zero, however often an item has failed", async (script) => {
  await script.hash("HSET", "failures", "a", "5000");
  const plan = planOf({ type: "exponential", baseDelay: 0, maxDelay: 10 });
  assertEquals(await script.one(...when(plan, START, "a", 5000)), 0);
});

limiterTest("a clock that goes backwards neither adds nor removes tokens", async (script) => {
  const plan = planOf({ type: "bucket", rate: 1, burst: 2 });
  const at = (time: number) => when(plan, START + time);
  assertEquals(await script.firsts(at(9 * SECOND), at(0), at(0)), [0, 0, 1000]);
});

limiterTest("groups are found by the text before the separator, whatever the separator is", async (script) => {
  const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
  for (const separator of [".", "%", "(", "::", "\0", "\u{1f600}", "\ud800"]) {
    const plan = planOf({ type: "per-group", separator, limiter: bucket });
    const keys = ["a", "b", `a${separator}1`, `b${separator}2`, `a${separator}${separator}`, `a${separator}b`];
    const steps = keys.map((key) => when(plan, START, key.toWellFormed()));
    assertEquals(await script.firsts(...steps), [0, 0, 1000, 1000, 2000, 3000], JSON.stringify(separator));
    await script.clear();
  }
});

limiterTest("groups inside groups belong to their outer group", async (script) => {
  const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
  const plan = planOf({
    type: "per-group",
    separator: "/",
    limiter: { type: "per-group", separator: ":", limiter: bucket },
  });
  const keys = ["a:x/1", "a:y/1", "a:x/2", "a/1"];
  const steps = keys.map((key) => when(plan, START, key));
  assertEquals(await script.firsts(...steps), [0, 0, 1000, 0]);
});

limiterTest("buckets of groups at rest are dropped, and no others", async (script) => {
  const plan = planOf({ type: "per-group", separator: "/", limiter: { type: "bucket", rate: 1, burst: 1 } });
  const come = (groups: number, time: number, from = 0) =>
    script.run(...Array.from({ length: groups }, (_, i) => when(plan, time, `g${from + i}/1`)));
  await come(1000, START); // each bucket is full again after a second
  await come(1000, START + SECOND, 5000); // before the first buckets are dropped
  assertEquals(await script.hash("HLEN", "buckets"), 2000);
  for (let round = 1; round <= 20; round++) await come(500, START + round * 3 * SECOND, round * 1000);
  const left = await script.hash("HLEN", "buckets") as number;
  assert(left < 2500, `${left} buckets of 500 that are not at rest`);
});

limiterTest(
  "a bucket without a rate is not at rest once a token was taken",
  async (script) => {
    const bucket = ["b", "0", "1"] as const;
    assertEquals(await script.run(["take", START, ...bucket, 1], ["take", START + 1, ...bucket, 1]), [
      [1, undefined],
      [0, undefined],
    ]);
    await script.run(["give back", START + 2, ...bucket, 5], ["give back", START + 2, "other", "0", "1", 5]);
    const [, stored] = await script.hash("HGETALL", "buckets") as string[];
    assertEquals(stored!.split(" ").map(Number), [1, START + 2, 0, 1, 9e15]);
  },
);

limiterTest(
  "with forgetAfter, counts expire a time after the end of the last delay, for attempts too",
  async (script) => {
    const plan = passing();
    const at = (
      time: number,
    ): Step[] => [["requeues", START + time, plan.rules, "a"], ["failures", START + time, ["a"]]];
    const end = 2000 * 5 + SECOND; // end of the delay after the second failure, plus `forgetAfter`
    const answers = await script.firsts(
      when(plan, START),
      when(plan, START, "a", 1),
      ...at(end - 1),
      ...at(end),
      when(plan, START + end),
      ...at(end),
    );
    assertEquals(answers, [5, 10, 2, 2, 0, 0, 5, 1, 1]);
  },
);

limiterTest("with forgetAfter, expired counts leave nothing behind, even if no call forgets them", async (script) => {
  const plan = passing();
  for (let round = 0; round < 20; round++) {
    await script.run(
      ...Array.from({ length: 500 }, (_, i) => when(plan, START + round * 2 * SECOND, `${round}/${i}`)),
    );
  }
  const left = await script.hash("HLEN", "failures") as number;
  assert(left >= 500 && left < 2500, `${left} keys`);
});

limiterTest("with forgetAfter, counts expire a time after the end of the delay that the queue used", async (script) => {
  const plan = passing();
  const minDelay = 3 * SECOND;
  const answers = await script.firsts(
    when(plan, START, "a", 0, START, minDelay),
    ["requeues", START + minDelay + SECOND - 1, plan.rules, "a"],
    ["requeues", START + minDelay + SECOND, plan.rules, "a"],
  );
  assertEquals(answers, [5, 1, 0]);
});

limiterTest("without forgetAfter, counts are not dropped", async (script) => {
  const keys = Array.from({ length: 100 }, (_, i) => `k${i}`);
  const [lasting, plan] = [planOf(EXPONENTIAL), passing()];
  await script.run(...keys.map((key) => when(lasting, START, key)));
  await script.run(...keys.map((key) => when(plan, START, `other ${key}`)));
  assertEquals(await script.run(["failures", START + 1e12, keys]), [keys.map(() => 1)]);
});

limiterTest("a limiter without counts keeps only the failures of attempts, and reports none", async (script) => {
  const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
  for (
    const config of [bucket, { type: "max-of", limiters: [bucket] }, { type: "jitter", limiter: bucket, spread: 0 }]
  ) {
    await script.clear();
    const plan = planOf(config as LimiterConfig);
    assertEquals(plan.rules, '{"counts":false}');
    const byHand: Step = ["when by hand", START, plan.rules, "a", given(plan)];
    const answers = await script.run(
      byHand,
      ["failures", START, ["a"]],
      when(plan, START),
      byHand,
      ["failures", START, ["a"]],
      ["requeues", START, plan.rules, "a"],
    );
    assertEquals(answers, [[0, undefined], [0], [1000, undefined], [2000, undefined], [1], [0, undefined]]);
  }
});

limiterTest("a failure by hand is early until the last delay has passed", async (script) => {
  const plan = passing({ type: "ignore-early", limiter: EXPONENTIAL });
  const byHand = (time: number, failures: number): Step => {
    return ["when by hand", START + time, plan.rules, "a", given(plan, "a", failures)];
  };
  const requeues = (time: number): Step => ["requeues", START + time, plan.rules, "a"];
  const answers = await script.firsts(
    byHand(0, 0),
    byHand(2000, 1), // 3 ms are left
    requeues(2000),
    byHand(4998, 1),
    byHand(4999, 1), // as if it were due, as sums of times are rounded
    requeues(4999),
  );
  assertEquals(answers, [5, 3, 1, 0.002, 10, 2]);
  assertEquals(await script.hash("HGET", "failures", "a"), `2 ${START + 14_999 + SECOND} @${START + 14_999}`);
});

Deno.test("limiters: a plan holds the rules that differ from the defaults", () => {
  const rules = (config: LimiterConfig, settings?: PlanSettings) =>
    JSON.parse(planOf(config, limiters, settings).rules);
  const [bucket, forgetAfter] = [{ type: "bucket", rate: 1, burst: 1 } as const, 1000];
  assertEquals(rules(EXPONENTIAL), {});
  assertEquals(rules(EXPONENTIAL, { forgetAfter }), { forgetAfter });
  assertEquals(rules(EXPONENTIAL, { forgetAfter: Infinity }), { forgetAfter: 1e13 });
  assertEquals(rules(bucket, { forgetAfter }), { forgetAfter, counts: false });
  assertEquals(rules({ type: "max-of", limiters: [bucket, EXPONENTIAL] }), {});
  assertEquals(rules({ type: "per-group", separator: "/", limiter: bucket }), { counts: false });
  assertEquals(rules({ type: "ignore-early", limiter: bucket }), { ignoresEarly: true }); // it keeps due times
});

limiterTest("huge times are stored as the largest time that can be stored", async (script) => {
  const plan = passing({ ...EXPONENTIAL, baseDelay: 1e300, maxDelay: 1e300 }, Number.MAX_VALUE);
  assertEquals(await script.one(...when(plan, START)), 1e300);
  assertEquals(await script.hash("HGET", "failures", "a"), "1 9000000000000000");
  assertEquals(await script.one(...when(plan, START + 1, "a", 1)), 1e300);
  assertEquals(await script.one("requeues", START + 1, plan.rules, "a"), 2);
});

limiterTest(
  "the counts of failures continue when the config changes",
  async (script) => {
    const [plain, second, hour] = [planOf(EXPONENTIAL), passing(), passing(EXPONENTIAL, 3_600_000)];
    const requeues = (plan: EngineLimiter): Step => ["requeues", START, plan.rules, "a"];
    const answers = await script.firsts(
      when(plain, START, "a", 0),
      when(second, START, "a", 1),
      requeues(hour),
      when(hour, START, "a", 2),
      when(hour, START, "a", 3),
      requeues(plain),
      when(second, START, "a", 4),
      when(plain, START, "a", 5),
    );
    assertEquals(answers, [5, 10, 2, 20, 40, 4, 80, 160]);
    assertEquals(await script.hash("HGET", "failures", "a"), "6");
  },
);

limiterTest("another bucket at the same place continues with the current tokens", async (script) => {
  const [small, large] = [1, 100].map((burst) => planOf({ type: "bucket", rate: 1, burst })) as [
    EngineLimiter,
    EngineLimiter,
  ];
  const answers = await script.firsts(
    when(large, START),
    when(small, START),
    when(small, START),
    when(large, START),
    when(large, START + 10 * SECOND),
  );
  assertEquals(answers, [0, 0, 1000, 2000, 0]);
});

limiterTest(
  "raising a rate adds no tokens for the time before, and lowering it takes none",
  async (script) => {
    const bucket = (rate: number, burst = 10) => ["b", `${rate}`, `${burst}`] as const;
    const take = (time: number, count: number, ...changed: [rate: number, burst?: number]): Step => [
      ...["take", START + time * SECOND] as const,
      ...bucket(...changed),
      count,
    ];
    const answers = await script.run(
      take(0, 10, 1),
      take(5, 10, 1000), // 5 tokens arrived at the old rate
      take(6, 10, 1000),
      take(16, 3, 0), // within 10 s, 1000 tokens per second have filled the bucket
      take(3600, 10, 0),
      take(3600, 0, 5, 100), // after a larger burst is set, the bucket fills at the new rate
      take(3601, 100, 5, 100),
      take(3601, 1, -1, 100),
      take(3602, 200, -1, 100),
      take(3603, 200, 5, 50), // at an infinite rate, the bucket was always full
    );
    assertEquals(answers.map(([taken]) => taken), [10, 5, 10, 3, 7, 0, 5, 1, 200, 50]);
  },
);

limiterTest("a stored value that can't be read counts as missing", async (script) => {
  const ignoring = { type: "ignore-early", limiter: EXPONENTIAL } as const;
  const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
  const plans = [passing(), planOf(EXPONENTIAL), passing(ignoring), planOf(bucket)];
  for (
    const stored of ["", " ", "x", "1 x x", "1 2", "3 - 4", "- - -", "x 9000000000000000 2 x", "1 ", "1 - @x", "@5"]
  ) {
    for (const plan of plans) {
      await script.hash("HSET", "failures", "a", stored);
      await script.hash("HSET", "buckets", ".", stored);
      const answers = await script.run(
        ["requeues", START, plan.rules, "a"],
        ["failures", START, ["a"]],
        ["when", START, plan.rules, "a", given(plan).replace("[0,", "[-1,")],
        ["when", START, plan.rules, "b", given(plan).replace("[0,", "[-1,")],
        ["take", START, ".", "1", "1", 1],
      );
      assert(answers[2]![0]! >= 0, stored);
    }
  }
});

/** Creates a registry with a third-party limiter. */
function registryWith(next: RateLimiter["next"], counts?: boolean): LimiterRegistry {
  const mine = defineLimiter({
    type: "mine",
    description: "",
    options: { isBroken: { kind: "boolean", description: "", default: false } },
    create({ isBroken }) {
      if (isBroken) throw new Error("not today");
      return { when: () => 0, forget() {}, numRequeues: () => 0, countsFailures: counts, ...next && { next } };
    },
  });
  return limiters.extend().register(mine);
}

limiterTest(
  "the process asks a custom limiter, and nothing is counted if its number is invalid",
  async (script) => {
    const registry = registryWith((failures) => failures * 100);
    const bucket = { type: "bucket", rate: 1, burst: 1 } as const;
    const plan = planOf({ type: "max-of", limiters: [bucket, { type: "mine" }] } as never, registry);
    const failing = (failures: number) => when(plan, START, "a", failures);
    assert(plan.needsStart);
    assertEquals(await script.run(failing(0), failing(0), failing(5), failing(1)), [
      [100, undefined],
      [undefined, 1],
      [undefined, 1],
      [1000, undefined], // the refused calls took no token
    ]);
    assertEquals(await script.run(["failures", START, ["a"]], ["requeues", START, plan.rules, "a"]), [[2], [
      2,
      undefined,
    ]]);
    assert(!planOf(EXPONENTIAL).needsStart);
  },
);

Deno.test("limiters: custom limiters that Redis can't use are refused, with place and reason", () => {
  const config = {
    type: "max-of",
    limiters: [
      { type: "mine" },
      { type: "per-group", separator: "/", limiter: { type: "mine" } },
      { type: "bucket", rate: 1, burst: 1 },
    ],
  } as never;
  const message = `"mine" must have 'next' in a queue that processes share, because the engine counts the failures`;
  assertEquals(issuesOf(() => planOf(config, registryWith(undefined))), [
    { path: "/limiters/0", message },
    { path: "/limiters/1/limiter", message },
  ]);
  const broken = { type: "mine", isBroken: true } as never;
  assertEquals(issuesOf(() => planOf(broken, registryWith(() => 0))), [{ path: "", message: "not today" }]);
  const { message: whole } = assertThrows(
    () => planOf({ type: "mine" } as never, registryWith(undefined)),
    ConfigError,
  );
  assertEquals(whole, `Cannot create Redis queue: ${message}`);
});

Deno.test("limiters: a type with a built-in name and another meaning is a custom limiter", () => {
  const registry = limiters.extend();
  registry.unregister("bucket");
  registry.register({
    ...limiters.get("bucket")!,
    description: "Another.",
    create: () => ({ when: () => 0, forget() {}, numRequeues: () => 0 }),
  });
  const config = { type: "bucket", rate: 1, burst: 1 } as const;
  assertThrows(() => planOf(config, registry), ConfigError, "must have 'next'");
});

Deno.test("limiters: a built-in limiter of another copy of the core is recognized, even with other descriptions", async () => {
  const { limiters: others } = await loadSecondCopy();
  for (const type of others.types()) {
    const config = builtIns.find(({ example }) => example.type === type)?.example;
    const reworded = { ...others.get(type)!, description: "In other words." };
    const registry = others.extend();
    registry.unregister(type);
    registry.register(reworded as never);
    assert(config !== undefined, `${type} is no built-in limiter`);
    const [plan, other] = [planOf(config as never), planOf(config as never, registry)];
    assertEquals([other.rules, other.needsStart, plan.needsStart], [plan.rules, false, false]);
  }
});

Deno.test("limiters: a built-in limiter of a version that the server doesn't know is a custom limiter", () => {
  const { create, ...bucket } = limiters.get("exponential")!;
  const newer = (...args: Parameters<typeof create>) => create(...args);
  const registry = limiters.extend();
  registry.unregister("exponential");
  registry.register({ ...bucket, create: Object.assign(newer, { [Symbol.for("workqueue.builtIn")]: 2 }) });
  const plan = planOf(EXPONENTIAL, registry);
  assertEquals([plan.needsStart, plan.given(2, FAILED)], [true, "[2,20]"]);
});

Deno.test("limiters: invalid random numbers and delays are refused, as by a limiter in memory", () => {
  const jitter = { type: "jitter", limiter: EXPONENTIAL, spread: 0.5 } as const;
  for (const random of [-0.1, 1.1, NaN]) {
    const plan = planLimiter("plan", limiters.describe(jitter), { random: () => random });
    const { message } = assertThrows(() => plan.given(0, FAILED), RangeError);
    assertEquals(message, `Cannot spread delay: 'random()' must be a number from 0 to 1, got ${random}`);
  }
  for (const delay of [NaN, Infinity]) {
    const plan = planOf({ type: "mine" } as never, registryWith(() => delay));
    const { message } = assertThrows(() => plan.given(0, FAILED), RangeError);
    assertEquals(message, `Cannot compute delay of "mine": 'next()' must be a finite number, got ${delay}`);
  }
  let next = 0;
  const plan = planLimiter("plan", limiters.describe(jitter), { random: () => next++ / 10 });
  assertEquals([given(plan), given(plan)], ["[0,5]", "[0,4.75]"]); // each failure uses a new random number
});

Deno.test("limiters: a custom limiter learns of each failure that this process knows, except for items that it can't read", () => {
  const calls: unknown[] = [];
  const registry = registryWith((...args) => calls.push(args));
  const plan = planOf({ type: "mine" } as never, registry);
  assertEquals([plan.given(2, { ...FAILED, key: "k" }), plan.given(0, FAILED)], ["[2,1]", "[0,2]"]);
  const retry = { startedAt: 5, dueAt: undefined, minDelay: 7 };
  assertEquals(calls, [[3, "a", "k", retry], [1, "a", "a", retry]]);
  const unreadable = [0, 3, 5000].map((failures) => plan.given(failures, { ...FAILED, isReadable: false }));
  assertEquals(unreadable, ["[0,5]", "[3,40]", "[5000,1000000]"]);
  assertEquals(calls.length, 2);
});

Deno.test("limiters: a custom limiter may declare that it doesn't count, but can't leave one failure uncounted", () => {
  const [without, counting] = [false, true].map((counts) =>
    planOf({ type: "mine" } as never, registryWith(() => 1, counts))
  );
  assertEquals([without!.rules, given(without!)], ['{"counts":false}', "[-1,1]"]);
  assertEquals([counting!.rules, given(counting!)], ["{}", "[0,1]"]);
  const plan = planOf({ type: "mine" } as never, registryWith(() => NOT_COUNTED));
  const { message } = assertThrows(() => plan.given(0, FAILED), TypeError);
  assertEquals(
    message,
    `Cannot compute delay of "mine": in a queue that processes share, 'next()' of a custom limiter can't return ` +
      `NOT_COUNTED, because the engine counts the failures`,
  );
});

Deno.test("limiters: a limiter that asks too many others is refused", () => {
  const nested = (count: number) => {
    const limiters: Record<string, object> = { l0: EXPONENTIAL };
    for (let i = 1; i < count; i++) limiters[`l${i}`] = { type: "max-wait", limiter: `l${i - 1}`, maxDelay: 1 };
    const document = { limiters, queues: { q: { limiter: `l${count - 1}` } } };
    return planLimiter("plan", loadConfig(document).describe("q").limiter);
  };
  assertEquals(given(nested(400)), "[0,1]");
  assertEquals(issuesOf(() => nested(401)), [
    { path: "/limiters/l400", message: "a limiter must not ask more than 400 others in a queue that processes share" },
  ]);
});

limiterTest("the deepest allowed nesting works, around groups too", async (script) => {
  const group = { type: "per-group", separator: "/", limiter: { type: "max-wait", limiter: "l0", maxDelay: 9 } };
  const all: Record<string, object> = { l0: EXPONENTIAL };
  for (let i = 1; i < 130; i++) all[`l${i}`] = { ...group, limiter: { ...group.limiter, limiter: `l${i - 1}` } };
  const { limiter } = loadConfig({ limiters: all, queues: { q: { limiter: "l129" } } }).describe("q");
  const plan = planLimiter("plan", limiter);
  assertEquals(await script.one(...when(plan, START)), 5);
  assertEquals(await script.one("requeues", START, plan.rules, "a"), 1);
});

Deno.test("limiters: on the server, a bucket is named by its place in the limiter, the same in documents and code, or by its own name", () => {
  const bucket = { type: "bucket", rate: 1, burst: 2 } as const;
  const config = { type: "max-of", limiters: [EXPONENTIAL, bucket] } as const;
  const document = loadConfig({
    limiters: { api: bucket, "max/of": { type: "max-of", limiters: [EXPONENTIAL, bucket] } },
    queues: {
      a: { limiter: config },
      b: { limiter: "api", throttle: "api" },
      c: { limiter: "max/of", throttle: bucketOnly },
    },
  });
  const inputOf = (queue: string) => given(planLimiter("plan", document.describe(queue).limiter));
  const nested = (id: string) => `[0,["longest",5,["bucket","${id}",1,2]]]`;
  assertEquals(given(planOf(config)), nested("./limiters/1"));
  assertEquals(inputOf("a"), nested("./limiters/1"));
  assertEquals(inputOf("b"), '[-1,["bucket","/limiters/api",1,2]]');
  assertEquals(inputOf("c"), nested("/limiters/max~1of/limiters/1"));
  assertEquals(bucketPlan(document, "b"), ["/limiters/api", "1", "2"]);
  assertEquals(bucketPlan(document, "c"), ["throttle", "-1", "3"]);
});

function bucketPlan(config: WorkQueueConfig, name: string) {
  const { path, name: bucket, options } = config.describe(name).throttle!;
  const { rate, burst } = options as { rate: number; burst: number };
  return planBucket({ id: idOf({ path, ...(bucket !== undefined && { name: bucket }) }), rate, burst });
}

const bucketOnly = { rate: Infinity, burst: 3 };

Deno.test("limiters: a bucket shared by queues is refused as their limiter, inside it, and as their throttle", () => {
  const config = loadConfig({
    limiters: {
      api: { type: "bucket", rate: 1, burst: 1 },
      mine: { type: "bucket", rate: 1, burst: 1 },
      backoff: { ...EXPONENTIAL },
      both: { type: "max-of", limiters: ["backoff", "api", "mine"] },
    },
    queues: {
      a: { limiter: { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: ["api"] } } },
      b: { limiter: "backoff", throttle: "api" },
      c: { limiter: "backoff" },
      d: { limiter: "both" },
    },
  });
  const refuse = (...names: string[]) =>
    issuesOf(() => refuseSharedBuckets("create", names.map((name) => config.describe(name))));
  const message = "queues that processes share cannot share a bucket, because each has buckets of its own:";
  assertEquals(refuse("a", "b", "c", "d"), [{ path: "/limiters/api", message: `${message} "a", "b", "d"` }]);
  assertEquals(refuse("a", "b"), [{ path: "/limiters/api", message: `${message} "a", "b"` }]);
  refuseSharedBuckets("create", ["a", "c"].map((name) => config.describe(name)));
  refuseSharedBuckets("create", [config.describe("d")]);
});

redisTest("limiters: tokens are taken like those of a bucket in memory, and come when promised", async ({ url }) => {
  await using script = await LimiterScript.connect(url, uniqueName("limiters"));
  const rate = fc.oneof(
    fc.double({ min: 0, max: 1000, noNaN: true }),
    fc.integer({ min: 1, max: 20 }),
    fc.constantFrom(0, Infinity),
  );
  const calls = fc.array(
    fc.record({ wait: fc.integer({ min: 1, max: 2_000_000 }), wanted: fc.integer({ min: 0, max: 6 }) }),
    { minLength: 1, maxLength: 30, size: "max" },
  );
  await fc.assert(
    fc.asyncProperty(rate, fc.integer({ min: 0, max: 5 }), calls, async (rate, burst, calls) => {
      await script.clear();
      const clock = new HandClock();
      const memory = new TokenBucket(rate, burst, { clock });
      const plan = planBucket({ id: "throttle", rate, burst });
      const steps: Step[] = [];
      const expected: number[] = [];
      let time = 0;
      for (const { wait, wanted } of calls) {
        time += wait;
        clock.time = time / 1000;
        let taken = 0;
        while (taken < wanted && memory.allow()) taken++;
        expected.push(taken);
        steps.push(["take", START + time, ...plan, wanted]);
      }
      const answers = await script.run(...steps);
      assertEquals(answers.map(([taken]) => taken), expected);
      const next = answers.at(-1)![1];
      const { wanted } = calls.at(-1)!;
      if (expected.at(-1) === wanted || rate === 0 || burst === 0) return assertEquals(next, undefined);
      if (rate < 1e-3) return;
      const [before, after] = await script.run(
        ["take", START + time + next! - 2, ...plan, 1],
        ["take", START + time + next! + 1, ...plan, 1],
      );
      assertEquals([before![0], after![0]], [0, 1], `${next}`);
    }),
    { seed: 12, numRuns: 500 },
  );
});

limiterTest("a throttle and a limiter with the same name take the tokens of one bucket", async (script) => {
  const document = {
    limiters: { api: { type: "bucket", rate: 1, burst: 3 } },
    queues: { q: { limiter: "api", throttle: "api" } },
  };
  const config = loadConfig(document);
  const [plan, bucket] = [planLimiter("plan", config.describe("q").limiter), bucketPlan(config, "q")];
  const fail = when(plan, START);
  assertEquals(await script.run(["take", START, ...bucket, 2], fail, fail, ["take", START, ...bucket, 1]), [
    [2, undefined],
    [0, undefined],
    [1000, undefined],
    [0, 2 * SECOND + 1],
  ]);
  await script.run(["give back", START, ...bucket, 2]);
  assertEquals(await script.run(["take", START, ...bucket, 2], fail), [[1, 1 * SECOND + 1], [1000, undefined]]);
});
