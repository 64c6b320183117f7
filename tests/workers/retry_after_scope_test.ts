/** Rule 13: handlers that make a group or the whole queue wait. */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  InMemoryMetrics,
  type RateLimitingQueueOptions,
  RetryAfterError,
  runWorkers,
  TokenBucket,
  type WorkerOptions,
} from "@workqueue/core";
import { elsewhere, type Engine, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });
const fair = () => createFairDiscipline<string>({ separator: "/" });

/** Runs workers that note what they do. `answer` may throw; a handler takes 10 ms otherwise. */
function setUp(
  answer: (item: string, attempt: number) => void,
  { queueOptions, ...options }: WorkerOptions<string> & { queueOptions?: RateLimitingQueueOptions<string> } = {},
) {
  const clock = new HandClock();
  const notes: string[] = [];
  const queue = createRateLimitingQueue<string>(limiter(), { clock, discipline: fair(), ...queueOptions });
  const pool = runWorkers(queue, async (item, { attempt }) => {
    notes.push(`${clock.time} ${item}${attempt === 1 ? "" : ` attempt ${attempt}`}`);
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 10));
    answer(item, attempt);
  }, {
    onError: (error) => void notes.push(`${clock.time} ${error}`),
    onGiveUp: (error, item, attempts, reason) => void notes.push(`${item} given up (${reason}): ${error} ${attempts}`),
    ...options,
  });
  /** Advances the time, and returns what happened. */
  const after = async (ms: number) => {
    await flush();
    await clock.advance(ms);
    return notes.splice(0);
  };
  return { clock, queue, pool, after };
}

Deno.test('rule 13: scope "group" pauses the group, and the attempt is not a failure', async () => {
  const metrics = new InMemoryMetrics();
  const { clock, queue, pool, after } = setUp((item) => {
    if (clock.time < 1000 && item.startsWith("a/")) throw new RetryAfterError("2s", "429", { scope: "group" });
  }, { maxRetries: 0, queueOptions: { name: "q", metrics } });
  for (const item of ["a/1", "a/2", "b/1"]) queue.add(item);
  assertEquals(await after(2009), ["0 a/1", "10 b/1"]);
  assertEquals([queue.length, queue.snapshot().blocked, queue.delayed], [0, 2, 0]);
  assertEquals([queue.numRequeues("a/1"), pool.snapshot().failing], [0, 0]);
  assertEquals(metrics.value("workqueue_failures_total", "q"), 0);
  assertEquals(await after(100), ["2010 a/2", "2020 a/1"]);
  assertEquals(queue.snapshot().blocked, 0);
});

Deno.test('rule 13: after earlier failures, an attempt with scope "group" does not change the number of the attempt', async () => {
  let attempts = 0;
  const { queue, after } = setUp(() => {
    attempts++;
    if (attempts === 1) throw new Error("no");
    if (attempts < 4) throw new RetryAfterError(100, "429", { scope: "group" });
  }, { maxRetries: 1 });
  queue.add("a/1");
  assertEquals(await after(1000), [
    "0 a/1",
    "10 Error: no",
    "20 a/1 attempt 2",
    "130 a/1 attempt 2",
    "240 a/1 attempt 2",
  ]);
  assertEquals(queue.numRequeues("a/1"), 0);
});

Deno.test('rule 13: a probe that fails with scope "group" leads to another pause', async () => {
  const { clock, queue, after } = setUp(() => {
    if (clock.time < 2500) throw new RetryAfterError("1s", "429", { scope: "group" });
  }, { concurrency: 4 });
  for (let i = 0; i < 3; i++) queue.add(`a/${i}`);
  assertEquals(await after(2500), ["0 a/0", "0 a/1", "0 a/2", "1010 a/0", "2020 a/1"]);
  assertEquals((await after(1000)).toSorted(), ["3030 a/2", "3040 a/0", "3040 a/1"]);
});

Deno.test('rule 13: scope "queue" pauses the whole queue, for all of its pools and consumers', async () => {
  for (
    const queueOptions of [{}, { discipline: undefined }, {
      discipline: undefined,
      keyOf: (item: string) => item.length,
    }]
  ) {
    const { clock, queue, after } = setUp((item) => {
      if (item === "x" && clock.time < 100) throw new RetryAfterError("30s", "503", { scope: "queue" });
    }, { maxRetries: 0, queueOptions });
    const other = runWorkers(queue, () => {}, { throttle: new TokenBucket(1000, 1, { clock }) });
    queue.add("x");
    assertEquals(await after(20), ["0 x"]);
    queue.add("yy");
    assertEquals([queue.length, queue.snapshot({ limit: 5 }).readyItems, queue.snapshot().blocked], [0, [], 2]);
    assertEquals([queue.tryGet(), await after(29_989)], [undefined, []]);
    await after(1);
    assertEquals([queue.length, queue.snapshot().blocked], [0, 0]);
    await after(10);
    await other.stop();
    assertEquals(queue.processing, 0);
  }
});

Deno.test("rule 13: of two pauses of the queue, the later end counts; drains wait, and no timer is left", async () => {
  const { clock, queue, pool, after } = setUp((item) => {
    if (clock.time < 100) throw new RetryAfterError(item === "x" ? "2s" : "1s", "503", { scope: "queue" });
  }, { concurrency: 2, queueOptions: { discipline: undefined } });
  queue.add("x");
  queue.add("y");
  assertEquals(await after(1000), ["0 x", "0 y"]);
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  assertEquals(await after(1009), []);
  assertEquals(await after(1), ["2010 x", "2010 y"]);
  await after(10);
  await drained;
  await pool.finished;
  assertEquals(clock.timers, 0);
});

Deno.test("rule 13: a paused queue has not ended: get and whenBelow wait for its items, also after shutDown", async () => {
  const { clock, queue, pool, after } = setUp((item) => {
    if (clock.time < 100) throw new RetryAfterError("1s", `503 ${item}`, { scope: "queue" });
  }, { queueOptions: { discipline: undefined } });
  queue.add("x");
  assertEquals(await after(20), ["0 x"]);
  await pool.stop();
  const below = queue.whenBelow(1);
  assertFalse(await isSettled(below));
  const got = queue.get();
  queue.shutDown();
  assertFalse(await isSettled(got));
  await clock.advance(990);
  assertEquals((await got).item, "x");
  await below;
});

test('rule 13: without groups, scope "group" delays the item, and is reported once', async (engine: Engine) => {
  const clock = new HandClock();
  const reports: string[] = [];
  const queue = createRateLimitingQueue<string>(limiter(), { clock });
  const pool = engine.runWorkers(queue, () => {
    throw new RetryAfterError("1s", "429", { scope: "group" });
  }, {
    clock,
    maxRetries: 1,
    onError: (error, item, attempt) => void reports.push(`${clock.time} ${error} ${item} ${attempt}`),
    onGiveUp: (error, item, attempts) => void reports.push(`given up: ${error} ${item} ${attempts}`),
  });
  queue.add("a");
  await flush();
  await clock.advance(1000);
  assertEquals(reports, [
    "0 Error: Cannot pause group: the queue does not support it, so only the item is delayed a 1",
    "0 RetryAfterError: 429 a 1",
    "1000 RetryAfterError: 429 a 2",
    "given up: RetryAfterError: 429 a 2",
  ]);
  await pool.stop();
});

Deno.test('rule 13: if the queue can\'t be paused, scope "queue" delays the item, and is reported once', async () => {
  const clock = new HandClock();
  const reports: string[] = [];
  const queue = createRateLimitingQueue<string>(limiter(), { clock });
  const pool = elsewhere.runWorkers(queue, () => {
    throw new RetryAfterError("1s", "503", { scope: "queue" });
  }, { clock, maxRetries: 0, onError: (error) => void reports.push(`${error}`) });
  queue.add("a");
  queue.add("b");
  await flush();
  assertEquals(reports, [
    "Error: Cannot pause queue: the queue does not support it, so only the item is delayed",
    "RetryAfterError: 503",
    "RetryAfterError: 503",
  ]);
  await pool.stop();
});

Deno.test("rule 13: without a delay, a RetryAfterError pauses nothing and is a failure", async () => {
  for (const scope of ["group", "queue"] as const) {
    const { queue, after } = setUp((_item, attempt) => {
      if (attempt === 1) throw new RetryAfterError(0, "429", { scope });
    });
    queue.add("a/1");
    assertEquals(await after(100), ["0 a/1", "10 RetryAfterError: 429", "20 a/1 attempt 2"]);
  }
});

Deno.test("rule 13: an unknown group is reported, and the error delays only its item", async () => {
  let isBroken = false;
  const groupOf = () => {
    if (isBroken) throw new Error("no group");
    return "a";
  };
  const { queue, after } = setUp((_item, attempt) => {
    isBroken = attempt === 1;
    if (isBroken) throw new RetryAfterError("1s", "429", { scope: "group" });
  }, { queueOptions: { discipline: createFairDiscipline({ groupOf }) } });
  queue.add("a/1");
  assertEquals(await after(500), ["0 a/1", "10 Error: no group", "10 RetryAfterError: 429"]);
  isBroken = false;
  assertEquals(await after(1000), ["1010 a/1 attempt 2"]);
});

Deno.test('rule 6: in a drain that drops, an attempt with scope "group" gives its item up', async () => {
  const { queue, after } = setUp(() => {
    throw new RetryAfterError("1s", "429", { scope: "group" });
  });
  queue.add("a/1");
  await flush();
  const drained = queue.shutDownWithDrain();
  assertEquals(await after(10), [
    "0 a/1",
    "10 RetryAfterError: 429",
    "a/1 given up (shutdown): RetryAfterError: 429 1",
  ]);
  await drained;
});

Deno.test("rule 11: a handler that throws a RetryAfterError after its timeout pauses the group, and has failed", async () => {
  const { queue, after } = setUp((item, attempt) => {
    if (item === "a/1" && attempt === 1) throw new RetryAfterError("1s", "429", { scope: "group" });
  }, { timeout: 5 });
  queue.add("a/1");
  assertEquals(await after(500), ["0 a/1", "5 TimeoutError: The handler did not end within 5 ms"]);
  queue.add("a/2");
  queue.add("b/1");
  assertEquals((await after(0)).length, 1);
  assertEquals(queue.snapshot().blocked, 1);
});

Deno.test("the scope of a RetryAfterError is checked, kept, and known to other copies of the package", async () => {
  assertEquals([new RetryAfterError(1).scope, new RetryAfterError(1, "", { scope: undefined }).scope], [
    "item",
    "item",
  ]);
  const response = new Response(null, { status: 429, headers: { "retry-after": "2" } });
  const error = RetryAfterError.from(response, { scope: "group" });
  assertEquals([error?.scope, error?.delay, error?.message], ["group", 2000, "429"]);
  assertEquals(RetryAfterError.from(response)?.scope, "item");
  const cause = new Error("why");
  assertEquals(new RetryAfterError(1, "", { scope: "queue", cause }).cause, cause);
  const message = `Cannot create retry-after error: 'scope' must be one of "item", "group", "queue", got "all"`;
  assertThrows(() => new RetryAfterError(1, "", { scope: "all" as "item" }), TypeError, message);
  assertThrows(() => RetryAfterError.from(response, { scope: "all" as "item" }), TypeError, message);
  assertThrows(() => new RetryAfterError(1, "", { scope: null as never }), TypeError, "'scope' must be one of");

  const copy = await loadSecondCopy();
  const { queue, clock, after } = setUp(() => {
    if (clock.time < 100) throw new copy.RetryAfterError("1s", "429", { scope: "group" });
  });
  queue.add("a/1");
  assertEquals(await after(2000), ["0 a/1", "1010 a/1"]);
});
