/** Tests of the failures that a queue counts in the records of its keys: when they expire, and who reads them. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createExponentialLimiter,
  createIgnoreEarlyLimiter,
  createMaxOfLimiter,
  createPerGroupLimiter,
  createRateLimitingQueue,
  createStepsLimiter,
  loadConfig,
  NOT_COUNTED,
  type RateLimiter,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  RetryAfterError,
  runWorkers,
  systemClock,
  type WorkAttempt,
} from "@workqueue/core";
import { setImmediate } from "node:timers/promises";
import type { Records } from "../../lib/structures/records.ts";
import { HandClock } from "../helpers.ts";
import { flush, insideOf, sourceOf, takeAll, withoutNext } from "../queue_helpers.ts";

const exponential = () => createExponentialLimiter<string>({ baseDelay: 100, maxDelay: 100_000 });

/** Creates a queue with a clock, and functions that carry out attempts as a pool does. */
function make(
  options: RateLimitingQueueOptions<string> = {},
  limiter: RateLimiter<string> = exponential(),
  clock = new HandClock(),
) {
  const queue = createRateLimitingQueue<string>(limiter, { clock, ...options });
  return { clock, queue, ...attemptsAt(queue) };
}

function attemptsAt(queue: RateLimitingQueue<string>) {
  const source = sourceOf(queue);
  const errors: unknown[] = [];
  const report = (error: unknown) => void errors.push(error);
  /** Begins an attempt at the next item. */
  const begin = (): WorkAttempt<string> => {
    const lease = source.tryTake()!;
    return { lease, key: lease.key, number: source.attemptOf(lease)! };
  };
  /** Ends an attempt. */
  const end = (attempt: WorkAttempt<string>, minDelay?: number) => {
    if (minDelay === undefined) source.finish(attempt, { kind: "succeeded" }, report);
    else source.finish(attempt, { kind: "failed", error: new Error("no"), minDelay }, report);
    attempt.lease[Symbol.dispose]();
  };
  /** Lets an attempt at an item fail, and cancels its retry. Returns the number of the attempt. */
  const fail = (item: string, minDelay = 0): number => {
    queue.add(item);
    const attempt = begin();
    end(attempt, minDelay);
    queue.cancelDelayed(item);
    return attempt.number;
  };
  /** Returns the number that the next attempt at an item has. */
  const nextNumber = (item: string): number => {
    queue.add(item);
    const attempt = begin();
    source.finish(attempt, { kind: "handedBack" }, report);
    attempt.lease[Symbol.dispose]();
    assertEquals(takeAll(queue), [item]);
    return attempt.number;
  };
  return { source, errors, begin, end, fail, nextNumber };
}

/** Number of records that a queue has in use. */
const recordsOf = (queue: RateLimitingQueue<string>) =>
  (insideOf(queue) as unknown as { records: Records }).records.size;

Deno.test("forgetAfter: failures are forgotten exactly this time after the end of the last delay", () => {
  type Made = ReturnType<typeof make>;
  const readers: Record<string, [read: (made: Made) => unknown, before: unknown, after: unknown]> = {
    "numRequeues": [({ queue }) => queue.numRequeues("a"), 2, 0],
    "the number of the next attempt": [({ nextNumber }) => nextNumber("a"), 3, 1],
    "the number of failing items": [({ source }) => source.failing, 1, 0],
    "isFailing": [({ source }) => source.isFailing!("a", "a"), true, false],
  };
  for (const [name, [read, before, after]] of Object.entries(readers)) {
    const made = make({ forgetAfter: "1s" });
    assertEquals([made.fail("a"), made.fail("a")], [1, 2]);
    made.clock.time = 1199; // the second delay is 200 ms
    assertEquals(read(made), before, name);
    made.clock.time = 1200;
    assertEquals(read(made), after, name);
    assertEquals([made.queue.numRequeues("a"), recordsOf(made.queue), made.errors], [0, 0, []], name);
  }
});

Deno.test("forgetAfter: once failures are forgotten, the delay after a failure is the first delay again", () => {
  for (const [time, delay] of [[1199, 400], [1200, 100]] as const) {
    for (const isByHand of [true, false]) {
      const { clock, queue, fail, begin, end } = make({ forgetAfter: "1s" });
      fail("a");
      fail("a");
      clock.time = time;
      if (isByHand) queue.addRateLimited("a");
      else {
        queue.add("a");
        end(begin(), 0);
      }
      assertEquals(queue.snapshot().delayedItems.map(({ dueInMs }) => dueInMs), [delay]);
    }
  }
});

Deno.test("forgetAfter: the item whose failures expire when it fails by hand again is handed out", async () => {
  const { clock, queue, fail } = make({ forgetAfter: "1s" });
  const items = ["a", "b", "c", "d", "e"]; // more than are forgotten when a failure is counted
  for (const item of items) fail(item);
  await clock.advance(5000);
  queue.addRateLimited("e");
  queue.add("f");
  queue.add("g");
  await clock.advance(100);
  assertEquals([takeAll(queue), queue.numRequeues("e")], [["f", "g", "e"], 1]);
});

Deno.test("forgetAfter: the time counts from the end of the delay that was used, which may be the minimum delay", () => {
  for (const isByHand of [true, false]) {
    const { clock, queue, fail } = make({ forgetAfter: "1s" });
    const failLate = () => {
      if (!isByHand) return void fail("a", 5000);
      queue.addRateLimited("a", { minDelay: 5000 });
      queue.cancelDelayed("a");
    };
    failLate();
    clock.time = 5999;
    assertEquals(queue.numRequeues("a"), 1);
    clock.time = 6000;
    assertEquals(queue.numRequeues("a"), 0);

    failLate();
    fail("a", 7); // this delay of 200 ms ends earlier, and is the last one
    clock.time = 7199;
    assertEquals(queue.numRequeues("a"), 2);
    clock.time = 7200;
    assertEquals(queue.numRequeues("a"), 0);
  }
});

Deno.test("forgetAfter: a failure keeps the earlier ones if they were not yet forgotten", () => {
  const { clock, queue, fail, source } = make(
    { forgetAfter: "1s" },
    createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }),
  );
  for (let failures = 1; failures <= 5; failures++) {
    assertEquals(fail("a"), failures);
    clock.time += 1099;
    assertEquals([source.failing, queue.numRequeues("a")], [1, failures]);
  }
  clock.time += 1;
  assertEquals([source.failing, queue.numRequeues("a")], [0, 0]);
});

Deno.test("forgetAfter: the number of failing items is exact although the last delays of other keys end later", () => {
  const { clock, source, fail, queue } = make({ forgetAfter: 1000 });
  fail("a");
  fail("b", 150);
  clock.time = 100;
  fail("a", 5000); // ends at 5100
  fail("c", 5000);
  fail("c"); // ends at 300
  fail("d");
  const failing = (time: number) => {
    clock.time = time;
    return source.failing;
  };
  assertEquals([1149, 1150, 1199, 1200, 1299, 1300, 6099, 6100].map(failing), [4, 3, 3, 2, 2, 1, 1, 0]);
  assertEquals(recordsOf(queue), 0);
});

Deno.test("forgetAfter: the time counts from the failure if the limiter's delay is negative", () => {
  const limiter: RateLimiter<string> = { ...withoutNext(exponential()), next: () => -500 };
  const { clock, queue, source, begin, end } = make({ forgetAfter: 1000 }, limiter);
  queue.addRateLimited("a");
  assertEquals(queue.length, 1);
  end(begin(), 0);
  clock.time = 999;
  assertEquals([queue.numRequeues("a"), source.failing], [2, 1]);
  clock.time = 1000;
  assertEquals([queue.numRequeues("a"), source.failing], [0, 0]);
});

Deno.test("forgetAfter of 0: failures are forgotten when the delay ends, so each retry is a first attempt", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(exponential(), { clock, forgetAfter: 0 });
  const log: string[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    log.push(`${attempt} at ${clock.time}`);
    if (log.length < 4) throw new Error("no");
  }, { maxRetries: 1, onError() {}, onGiveUp: () => log.push("gave up") });
  queue.add("a");
  await flush();
  clock.time = 99;
  assertEquals([queue.numRequeues("a"), pool.snapshot().failing], [1, 1]);
  await clock.advance(1000);
  assertEquals(log, ["1 at 0", "1 at 100", "1 at 200", "1 at 300"]);
  assertEquals([queue.numRequeues("a"), recordsOf(queue)], [0, 0]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("forgetAfter: a reload changes it at once for existing queues; adding or removing it does not", () => {
  const limiter = { type: "exponential", baseDelay: 100, maxDelay: 100 };
  const clock = new HandClock();
  const document = (forgetAfter?: string) => ({ queues: { q: { limiter, forgetAfter } } });
  const config = loadConfig(document("1s"), { clock });
  const expiring = config.queue<string>("q");
  const { source, fail } = attemptsAt(expiring);
  fail("a");
  config.reload(document("1h"));
  clock.time = 3_600_099;
  assertEquals([expiring.numRequeues("a"), source.failing], [1, 1]);
  config.reload(document("59m"));
  assertEquals([expiring.numRequeues("a"), source.failing], [0, 0]);

  config.reload(document());
  const lasting = config.queue<string>("q");
  for (const queue of [expiring, lasting]) queue.addRateLimited("b");
  config.reload(document("1s"));
  clock.time += 100 + 3_540_000;
  const counts = () => [expiring, lasting, config.queue<string>("q")].map((queue) => queue.numRequeues("b"));
  assertEquals(counts(), [0, 1, 0]);
  const later = config.queue<string>("q");
  later.addRateLimited("b");
  clock.time += 1100;
  assertEquals([counts(), later.numRequeues("b")], [[0, 1, 0], 0]);
});

Deno.test("forgetAfter: keys that never come again are dropped as others fail, so memory is bounded", () => {
  const clock = new HandClock();
  for (const isByHand of [true, false]) {
    const { queue, fail } = make(
      { forgetAfter: 1000 },
      createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }),
      clock,
    );
    let most = 0;
    for (let key = 0; key < 20_000; key++) {
      if (isByHand) {
        queue.addRateLimited(`${key}`);
        queue.cancelDelayed(`${key}`);
      } else fail(`${key}`);
      clock.time++;
      most = Math.max(most, recordsOf(queue));
    }
    assert(most <= 1102, `${most} records`); // one key fails in each of the 1,100 ms until failures are forgotten
    queue.shutDown();
  }
});

Deno.test("forgetAfter: the number of failing items is exact without further failures, and watchers are called", () => {
  const { clock, source, fail } = make(
    { forgetAfter: 1000 },
    createExponentialLimiter({ baseDelay: 100, maxDelay: 100 }),
  );
  const forgotten: unknown[] = [];
  source.watchForgotten!((key) => forgotten.push(key));
  for (let key = 0; key < 3000; key++) {
    fail(`${key}`);
    clock.time++;
  }
  // The keys that failed at 0 to 1899 ms have expired at 2999 ms. Failures have dropped some of them before.
  clock.time = 2999;
  assertEquals(source.failing, 1100);
  clock.time = 3000;
  assertEquals(source.failing, 1099);
  clock.time = 4099;
  assertEquals([source.failing, forgotten.length, new Set(forgotten).size], [0, 3000, 3000]);
});

for (const clock of [new HandClock(), systemClock]) {
  const name = clock === systemClock ? "by the system clock" : "by another clock";
  Deno.test(`forgetAfter: the number of failing items is exact when many expire at once, ${name}`, async () => {
    const document = (forgetAfter: string) => ({
      queues: { q: { limiter: { type: "bucket", rate: 1e9, burst: 1e9 }, forgetAfter } },
    });
    const config = loadConfig(document("1h"), { clock });
    const queue = config.queue<string>("q");
    const { begin, end, source } = attemptsAt(queue);
    const forgotten = new Set<unknown>();
    source.watchForgotten!((key) => forgotten.add(key));
    const COUNT = 25_000;
    for (let key = 0; key < COUNT; key++) {
      queue.add(`${key}`);
      end(begin(), key % 100 === 0 ? 3_600_000 : 0); // some fail for an hour longer
      queue.cancelDelayed(`${key}`);
      takeAll(queue);
    }
    assertEquals(source.failing, COUNT);
    config.reload(document("0s"));
    const pool = runWorkers(queue, () => {});
    assertEquals([source.failing, pool.snapshot().failing], [COUNT / 100, COUNT / 100]);
    while (forgotten.size < COUNT * 0.99) await setImmediate();
    assertEquals([source.failing, ...["0", "1"].map((key) => source.isFailing!(key, key))], [COUNT / 100, true, false]);
    queue.shutDown();
    await pool.finished;
  });
}

Deno.test("forgetAfter: an item whose failures are forgotten while it is delayed or processing stays in that state", async () => {
  const { clock, queue, begin, end, source } = make({ forgetAfter: 10 });
  queue.addRateLimited("a");
  queue.addAfter("b", 5000);
  queue.addRateLimited("b"); // due after 100 ms, forgotten at 110
  await clock.advance(100);
  queue.addAfter("a", 900);
  clock.time = 110;
  assertEquals([queue.numRequeues("a"), queue.numRequeues("b")], [0, 0]);
  assertEquals([queue.length, queue.delayed], [2, 1]);
  const attempt = begin();
  assertEquals([attempt.lease.item, attempt.number], ["a", 1]);
  end(attempt);
  const failing = begin();
  end(failing, 0);
  assertEquals([source.failing, queue.numRequeues("b")], [1, 1]);
  await clock.advance(900);
  assertEquals([source.failing, takeAll(queue)], [0, ["b", "a"]]);
  assertEquals([queue.delayed, recordsOf(queue)], [0, 0]);
});

Deno.test("failures counted by hand and failures of pools are one number", () => {
  const { queue, fail, nextNumber } = make();
  queue.addRateLimited("a");
  queue.cancelDelayed("a");
  assertEquals([queue.numRequeues("a"), nextNumber("a")], [1, 2]);
  assertEquals(fail("a"), 2);
  assertEquals([queue.numRequeues("a"), nextNumber("a")], [2, 3]);
  queue.addRateLimited("a");
  assertEquals(queue.snapshot().delayedItems[0]!.dueInMs, 400);
  queue.forget("a");
  queue.cancelDelayed("a");
  assertEquals([queue.numRequeues("a"), nextNumber("a"), recordsOf(queue)], [0, 1, 0]);
});

Deno.test("failures counted by hand bring an item closer to maxRetries, unless they were forgotten", async () => {
  for (const [forgetAfter, expected] of [[undefined, ["attempt 3", "gave up after 3"]], [10, ["attempt 1"]]] as const) {
    const clock = new HandClock();
    const queue = createRateLimitingQueue<string>(exponential(), { clock, forgetAfter });
    const log: string[] = [];
    const pool = runWorkers(queue, (_item, { attempt }) => {
      log.push(`attempt ${attempt}`);
      throw new Error("no");
    }, { maxRetries: 2, onError() {}, onGiveUp: (_error, _item, attempts) => log.push(`gave up after ${attempts}`) });
    for (let i = 0; i < 2; i++) queue.addRateLimited("a");
    queue.cancelDelayed("a");
    clock.time = 5000;
    queue.add("a");
    await flush();
    assertEquals(log, [...expected]);
    queue.shutDown();
    await pool.finished;
  }
});

Deno.test("forgetAfter: after failures were forgotten, a failure by hand makes the next attempt the second one", () => {
  const { clock, queue, fail, nextNumber } = make({ forgetAfter: 1000 });
  for (let i = 0; i < 3; i++) fail("a");
  clock.time = 1400;
  queue.addRateLimited("a");
  queue.cancelDelayed("a");
  assertEquals([queue.numRequeues("a"), nextNumber("a")], [1, 2]);
});

Deno.test("queues that share a limiter don't reset each other", async () => {
  const clock = new HandClock();
  const shared = exponential();
  const [one, other] = [make({ forgetAfter: 1000 }, shared, clock), make({}, shared, clock)];
  for (let i = 0; i < 3; i++) for (const { fail } of [one, other]) fail("a");
  one.queue.forget("a");
  assertEquals([one, other].map(({ queue, source }) => [queue.numRequeues("a"), source.failing]), [[0, 0], [3, 1]]);
  one.fail("a");
  other.queue.addRateLimited("a");
  assertEquals(other.queue.snapshot().delayedItems[0]!.dueInMs, 800);
  await clock.advance(100_000);
  assertEquals([one, other].map(({ nextNumber }) => nextNumber("a")), [1, 5]);
  assertEquals(shared.numRequeues("a"), 0); // the limiter counts only calls by hand
});

/** Limiter inside others, which records what it is told. */
class Told {
  readonly log: string[] = [];

  readonly withNext: RateLimiter<string> = {
    ...withoutNext(exponential()),
    next: () => 5,
    forget: (item, key) => void this.log.push(`forget ${item} ${key}`),
    forgotten: (item, key) => void this.log.push(`forgotten ${item} ${key}`),
  };

  readonly own: RateLimiter<string> = {
    when: (item, key) => this.log.push(`when ${item} ${key}`),
    forget: (item, key) => void this.log.push(`forget ${item} ${key}`),
    numRequeues: () => 5,
  };

  /** Returns what was told since the last call. */
  since(): string[] {
    return this.log.splice(0);
  }
}

for (const kind of ["own", "withNext"] as const) {
  const wrappings: Record<string, (limiter: RateLimiter<string>) => RateLimiter<string>> = {
    "alone": (limiter) => limiter,
    "in max-of": (limiter) => createMaxOfLimiter<string>(exponential(), limiter),
    "in ignore-early and max-of": (limiter) =>
      createIgnoreEarlyLimiter(createMaxOfLimiter<string>(limiter, exponential())),
    "in per-group": (limiter) =>
      createPerGroupLimiter<string>({ groupOf: () => "all", limiter: () => createMaxOfLimiter<string>(limiter) }),
  };
  for (const [name, wrap] of Object.entries(wrappings)) {
    Deno.test(`a limiter ${kind === "own" ? "without 'next'" : "with 'forgotten'"}, ${name}, is told of keys that are forgotten`, () => {
      const told = new Told();
      const word = kind === "own" ? "forget" : "forgotten";
      const { clock, queue, source, fail, begin, end } = make(
        { forgetAfter: 1000, keyOf: (item) => item[0] },
        wrap(told[kind]),
      );
      const fails = (item: string) => {
        fail(item);
        assertEquals(told.since(), kind === "own" ? [`when ${item} ${item[0]}`] : []);
      };
      fails("a1");
      queue.forget("a2");
      assertEquals(told.since(), [`${word} a2 a`]);

      fails("a3");
      queue.add("a4");
      end(begin());
      assertEquals(told.since(), [`${word} a4 a`]);

      fails("a5");
      clock.time += 2000;
      assertEquals([source.failing, told.since()], [0, [`${word} a5 a`]], "the item that failed");

      fails("a7");
      fails("b1");
      clock.time += 2000;
      queue.addRateLimited("c1"); // drops the expired failures of up to two keys
      assertEquals(told.since(), [`${word} a7 a`, `${word} b1 b`, ...kind === "own" ? ["when c1 c"] : []]);
      queue.shutDown();
    });
  }
}

Deno.test("forgetAfter: an error of the limiter's forgotten() loses nothing, and the next key is dropped as well", () => {
  const broken = {
    ...withoutNext(exponential()),
    forget: () => {
      throw new Error("no");
    },
  };
  const { clock, queue, fail, source } = make({ forgetAfter: 0 }, createMaxOfLimiter<string>(exponential(), broken));
  for (const key of ["a", "b"]) fail(key);
  clock.time = 5000;
  assertEquals([source.failing, queue.numRequeues("a"), recordsOf(queue)], [0, 0, 0]);
  assertThrows(() => queue.forget("a"), Error, "no");
});

Deno.test("countsFailures: false: an item that is added by hand leaves no record, and numRequeues is 0", async () => {
  const clock = new HandClock();
  const bucket = () => createBucketLimiter<string>({ rate: 1e6, burst: 1e6, clock });
  const limiters: RateLimiter<string>[] = [
    bucket(),
    createMaxOfLimiter(bucket(), bucket()),
    { ...withoutNext(exponential()), next: () => 1, countsFailures: false },
    createPerGroupLimiter<string>({ groupOf: () => "all", limiter: bucket }),
  ];
  for (const limiter of limiters) {
    const { queue, nextNumber, fail } = make({ forgetAfter: 1000 }, limiter, clock);
    const { ready: _, ...fresh } = queue.snapshot() as object as Record<string, unknown>;
    for (let key = 0; key < 1000; key++) queue.addRateLimited(`${key}`);
    await clock.advance(1);
    assertEquals([takeAll(queue).length, recordsOf(queue), queue.numRequeues("5"), nextNumber("5")], [1000, 0, 0, 1]);
    const { ready: __, ...then } = queue.snapshot() as object as Record<string, unknown>;
    assertEquals(then, fresh);
    // A pool's attempts are numbered nevertheless, for maxRetries.
    assertEquals([fail("a"), fail("a"), queue.numRequeues("a"), nextNumber("a")], [1, 2, 0, 3]);
    queue.forget("a");
    assertEquals([nextNumber("a"), recordsOf(queue)], [1, 0]);
    queue.shutDown();
  }
});

/** A pool with one item, whose attempts a test ends. */
function pooled(maxRetries: number, limiter: RateLimiter<string>, options: RateLimitingQueueOptions<string> = {}) {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter, { clock, ...options });
  const log: string[] = [];
  let running: PromiseWithResolvers<void> | undefined;
  const pool = runWorkers(queue, (_item, { attempt }) => {
    log.push(`attempt ${attempt} at ${clock.time}`);
    running = Promise.withResolvers();
    return running.promise;
  }, { maxRetries, onError() {}, onGiveUp: () => log.push(`gave up at ${clock.time}`) });
  const fail = async (error = new Error("no")) => {
    running!.reject(error);
    await flush();
  };
  const stop = async () => {
    queue.shutDown();
    running?.resolve();
    await pool.finished;
  };
  const dueAt = () => queue.snapshot().delayedItems.map(({ dueInMs }) => clock.time + dueInMs);
  return { clock, queue, log, fail, stop, dueAt };
}

/** Ignores early failures. Delays of 1, 2, 4, … seconds. */
const ignoring = () =>
  createIgnoreEarlyLimiter<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 1_000_000 }));

Deno.test("ignore-early: a failure by hand before an attempt makes the attempt early, and its failure is not counted", async () => {
  const { clock, queue, log, fail, stop, dueAt } = pooled(1, ignoring());
  queue.addRateLimited("a"); // due at 1000
  await clock.advance(400);
  queue.add("a");
  await flush();
  await fail();
  assertEquals([log, queue.numRequeues("a"), dueAt()], [["attempt 2 at 400"], 1, [1000]]);
  await clock.advance(600);
  clock.time = 1500;
  await fail(); // not early, and the second failure
  assertEquals(log.slice(1), ["attempt 2 at 1000", "gave up at 1500"]);
  await stop();
});

Deno.test("ignore-early: an early attempt that fails after the end of the previous delay is retried at once", async () => {
  const { clock, queue, log, fail, stop } = pooled(1, ignoring(), { addWhileDelayed: "replace" });
  queue.addRateLimited("a");
  await clock.advance(999);
  queue.add("a");
  await flush();
  clock.time = 5000;
  await fail();
  assertEquals([log, queue.numRequeues("a")], [["attempt 2 at 999", "attempt 2 at 5000"], 1]);
  await fail();
  assertEquals(log.slice(2), ["gave up at 5000"]);
  await stop();
});

Deno.test("ignore-early: a failure by hand during an attempt makes the attempt early, whenever it fails", async () => {
  for (const failsAt of [500, 1000, 1700]) {
    for (const maxRetries of [0, 5]) {
      const { clock, queue, log, fail, stop, dueAt } = pooled(maxRetries, ignoring());
      queue.add("a");
      await flush();
      await clock.advance(10);
      queue.addRateLimited("a");
      queue.cancelDelayed("a");
      clock.time = failsAt;
      await fail();
      assertEquals(queue.numRequeues("a"), 1);
      if (failsAt < 1010) assertEquals([log, dueAt()], [["attempt 1 at 0"], [1010]]);
      else assertEquals(log, ["attempt 1 at 0", `attempt 2 at ${failsAt}`]);
      await stop();
    }
  }
});

Deno.test("ignore-early: a failure by hand during a later attempt also makes the attempt early", async () => {
  const { clock, queue, log, fail, stop, dueAt } = pooled(5, ignoring());
  queue.add("a");
  await flush();
  await fail(); // due at 1000
  await clock.advance(1000);
  clock.time = 1100;
  queue.addRateLimited("a"); // due at 3100
  queue.cancelDelayed("a");
  clock.time = 1200;
  await fail();
  assertEquals([queue.numRequeues("a"), dueAt()], [2, [3100]]);
  await clock.advance(1900);
  await fail(); // began when the delay was over
  assertEquals([log, queue.numRequeues("a"), dueAt()], [
    ["attempt 1 at 0", "attempt 2 at 1000", "attempt 3 at 3100"],
    3,
    [7100],
  ]);
  await stop();
});

Deno.test("ignore-early: the minimum delay of an early failure counts", async () => {
  const { clock, queue, fail, stop, dueAt } = pooled(1, ignoring());
  queue.addRateLimited("a", { minDelay: 3000 }); // due at 3000
  queue.add("a");
  await flush();
  queue.cancelDelayed("a");
  clock.time = 2000;
  await fail(new RetryAfterError(9000));
  assertEquals([queue.numRequeues("a"), dueAt()], [1, [11_000]]);
  await stop();
});

Deno.test("a limiter without 'next' is not asked whether it counts the last attempt", async () => {
  const calls: unknown[] = [];
  const own = { ...withoutNext(exponential()), when: () => calls.push("when") * 1000 };
  const { clock, queue, log, fail, stop } = pooled(1, own);
  queue.add("a");
  await flush();
  await fail();
  clock.time = 10;
  queue.add("a"); // early
  await flush();
  await fail();
  assertEquals([log, calls], [["attempt 1 at 0", "attempt 2 at 10", "gave up at 10"], ["when"]]);
  await stop();
});

Deno.test("NOT_COUNTED for a first failure is an error: the retry would be due at once, again and again", async () => {
  const limiter: RateLimiter<string> = { ...withoutNext(exponential()), next: () => NOT_COUNTED };
  const clock = new HandClock();
  const queue = createRateLimitingQueue(limiter, { clock });
  const message = "'next' of the limiter must return a finite number of milliseconds, got a symbol";
  const error = assertThrows(() => queue.addRateLimited("a"), Error, message);
  assertEquals((error as Error & { code?: string }).code, "WQ_LIMITER");
  assertEquals([queue.length, queue.delayed, queue.numRequeues("a"), recordsOf(queue)], [0, 0, 0, 0]);
  const log: unknown[] = [];
  const pool = runWorkers(queue, () => {
    throw new Error("down");
  }, { onError() {}, onGiveUp: (_error, item, attempts, reason) => log.push(item, attempts, reason) });
  queue.add("a");
  await flush();
  assertEquals(log, ["a", 1, "limiter"]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("another key may take the record of a key whose failures are being forgotten", () => {
  const readers: Record<string, [read: (made: ReturnType<typeof make>) => unknown, answer: unknown]> = {
    "numRequeues": [({ queue }) => queue.numRequeues("a"), 0],
    "isFailing": [({ source }) => source.isFailing!("a", "a"), false],
    "addRateLimited": [({ queue }) => {
      queue.addRateLimited("a");
      return [queue.numRequeues("a"), queue.snapshot().delayedItems.find(({ item }) => item === "a")!.dueInMs];
    }, [1, 100]],
  };
  for (const [name, [read, answer]] of Object.entries(readers)) {
    for (const isWatcher of [true, false]) {
      const failOther = () => {
        made.fail("x");
        made.fail("x");
      };
      const whole = exponential();
      const limiter: RateLimiter<string> = {
        ...withoutNext(whole),
        next: (...args) => whole.next!(...args),
        forgotten: isWatcher ? () => {} : failOther,
      };
      const made = make({ forgetAfter: 1000 }, limiter);
      made.source.watchForgotten!(isWatcher ? failOther : () => {});
      made.fail("a");
      made.clock.time = 5000;
      assertEquals(read(made), answer, name);
      assertEquals([made.queue.numRequeues("x"), made.errors], [2, []], name);
    }
  }
});

Deno.test("another key may take the record of a stale lease that is requeued, when watchers are called", () => {
  const { queue, source, fail, begin } = make();
  fail("a");
  queue.add("a");
  const attempt = begin();
  queue.done("a"); // by hand, before the attempt has ended
  const stop = source.watchForgotten!(() => {
    queue.forget("a");
    queue.add("x");
  });
  source.finish(attempt, { kind: "requeue" }, (error) => {
    throw error;
  });
  stop();
  attempt.lease[Symbol.dispose]();
  const { readyItems, delayedItems } = queue.snapshot();
  assertEquals([readyItems.map(({ item }) => item), delayedItems.map(({ item }) => item)], [["x"], ["a"]]);
  assertEquals([takeAll(queue), queue.cancelDelayed("a"), queue.cancelDelayed("x")], [["x"], true, false]);
});

/** Calls that a limiter makes to its queue while the queue asks it. */
const RE_ENTRIES: Readonly<Record<string, (queue: RateLimitingQueue<string>) => void>> = {
  "forgets the key": (queue) => queue.forget("a"),
  "adds the key": (queue) => queue.add("a"),
  "delays the key": (queue) => queue.addAfter("a", 3),
  "fails the key": (queue) => queue.addRateLimited("a"),
  "cancels the delay": (queue) => void queue.cancelDelayed("a"),
  "is done with the key": (queue) => queue.done("a"),
  "adds other keys": (queue) => ["x", "y", "z"].forEach((key) => queue.add(key)),
  "fails other keys": (queue) => ["x", "y", "z"].forEach((key) => queue.addRateLimited(key)),
  "takes all": (queue) => void takeAll(queue),
  "shuts down": (queue) => queue.shutDown(),
  "drains": (queue) => void queue.shutDownWithDrain({ delayed: "flush" }),
};

for (const [name, reEnter] of Object.entries(RE_ENTRIES)) {
  for (const method of ["next", "forgotten", "a watcher"] as const) {
    Deno.test(`a queue whose ${method} ${name} is consistent afterwards`, async () => {
      for (const by of ["hand", "pool"] as const) {
        for (const failures of [0, 1]) {
          for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
            await checkReEntry(method, reEnter, by, failures, addWhileDelayed);
          }
        }
      }
    });
  }
}

/** Re-enters a queue once when a limiter or a watcher is called, and checks that everything ends as it should. */
async function checkReEntry(
  method: "next" | "forgotten" | "a watcher",
  reEnter: (queue: RateLimitingQueue<string>) => void,
  by: "hand" | "pool",
  failures: number,
  addWhileDelayed: "keep" | "replace" | "fold",
): Promise<void> {
  const whole = exponential();
  let isArmed = false;
  const enter = () => {
    if (!isArmed) return;
    isArmed = false;
    reEnter(queue);
  };
  const limiter: RateLimiter<string> = {
    ...withoutNext(whole),
    next(...args) {
      if (method === "next") enter();
      return whole.next!(...args);
    },
    forgotten() {
      if (method === "forgotten") enter();
    },
  };
  const { clock, queue, source, errors, begin, end } = make({ forgetAfter: 1000, addWhileDelayed }, limiter);
  source.watchForgotten!(() => {
    if (method === "a watcher") enter();
  });
  const fail = () => {
    if (by === "hand") return queue.addRateLimited("a");
    queue.add("a");
    end(begin(), 0);
  };
  for (let i = 0; i < failures; i++) fail();
  await clock.advance(150); // a retry of a pool is ready
  if (method !== "next") clock.time = 5000; // the failures have expired
  isArmed = true;
  if (by === "hand") queue.addRateLimited("a");
  else {
    if (queue.length === 0) queue.add("a");
    end(begin(), 0);
  }
  isArmed = false;
  const isOpen = !queue.shuttingDown;
  for (const key of ["a", "x", "y", "z"]) {
    const count = queue.numRequeues(key);
    assert(Number.isInteger(count) && count >= 0 && count <= failures + 2, `${key} has failed ${count} times`);
  }
  const seen: string[] = [];
  for (let i = 0; i < 20; i++) {
    await clock.advance(1000);
    seen.push(...takeAll(queue));
  }
  assertEquals([queue.length, queue.delayed, queue.processing, errors], [0, 0, 0, []]);
  if (isOpen) assert(seen.includes("a") || reEnter === RE_ENTRIES["takes all"], `a is lost: ${seen}`);
  assertEquals([source.failing, ...["a", "x", "y", "z"].map((key) => queue.numRequeues(key))], [0, 0, 0, 0, 0]);
  assertEquals(recordsOf(queue), 0);
  queue.shutDown();
}

Deno.test("an early failure at the limit of maxRetries leaves the failures of other keys alone", async () => {
  const limiter = createIgnoreEarlyLimiter(createStepsLimiter<string>({ delays: [1000] }));
  const { queue, clock } = make({ forgetAfter: "10s" }, limiter);
  const pool = runWorkers(queue, (item) => {
    queue.addRateLimited(item, { minDelay: "1h" });
    throw new Error("no");
  }, { maxRetries: 0, onError() {} });
  queue.addRateLimited("b");
  queue.add("a");
  await flush();
  assertEquals([clock.time, queue.numRequeues("b")], [0, 1]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("an early failure that gives an item up takes no token", async () => {
  const bucket = createBucketLimiter<string>({ rate: 1, burst: 2, clock: new HandClock() });
  const { queue } = make({}, bucket);
  const givenUp: string[] = [];
  const pool = runWorkers(queue, () => {
    throw new RetryAfterError(10_000, "later");
  }, { maxRetries: 1, onError() {}, onGiveUp: (_error, item) => givenUp.push(item) });
  for (let failures = 1; failures <= 2; failures++) {
    queue.add("a");
    await flush();
  }
  assertEquals([givenUp, bucket.bucket.tokens], [["a"], 1]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("a limiter beside ignore-early is asked once for each failure, also for the last one", async () => {
  for (const maxRetries of [5, 1]) {
    const own = withoutNext(exponential());
    let asked = 0;
    const counted = { ...own, when: (...args: Parameters<typeof own.when>) => ++asked && own.when(...args) };
    const early = createIgnoreEarlyLimiter(createStepsLimiter<string>({ delays: [10_000] }));
    const { queue } = make({}, createMaxOfLimiter<string>(counted, early));
    const pool = runWorkers(queue, () => {
      throw new Error("no");
    }, { maxRetries, onError() {} });
    for (let failures = 1; failures <= 2; failures++) {
      queue.add("a");
      await flush();
      assertEquals([asked, queue.numRequeues("a")], [failures, 1]);
    }
    queue.shutDown();
    await pool.finished;
  }
});

Deno.test("the minimum delay of a failure that is not counted is the previous delay of the next one", async () => {
  const limiter = createIgnoreEarlyLimiter(createExponentialLimiter<string>({ baseDelay: 100, maxDelay: 10_000 }));
  const { queue, clock } = make({ addWhileDelayed: "replace", forgetAfter: 50 }, limiter);
  const delays = [0, 1000, 0];
  const attempts: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    attempts.push(attempt);
    const minDelay = delays.shift();
    throw minDelay ? new RetryAfterError(minDelay, "later") : new Error("no");
  }, { onError() {} });
  const dueAt = () => clock.time + queue.snapshot().delayedItems[0]!.dueInMs;
  queue.add("a");
  await flush();
  assertEquals(dueAt(), 100);
  await clock.advance(10);
  queue.add("a");
  await flush();
  assertEquals(dueAt(), 1010);
  await clock.advance(490);
  assertEquals([queue.numRequeues("a"), sourceOf(queue).failing], [1, 1]);
  queue.add("a");
  await flush();
  assertEquals([dueAt(), queue.numRequeues("a"), attempts], [1010, 1, [1, 2, 2]]);
  queue.shutDown();
  await pool.finished;
});

Deno.test("failures that expire while a stale lease is requeued lose no item", () => {
  const clock = new HandClock();
  let step = 0;
  const moving = {
    now: () => clock.time += step,
    setTimeout: clock.setTimeout.bind(clock),
    clearTimeout: clock.clearTimeout.bind(clock),
  };
  const limiter: RateLimiter<string> = { ...withoutNext(exponential()), next: () => 10 };
  const queue = createRateLimitingQueue(limiter, { clock: moving, forgetAfter: 0 });
  const { begin, end, errors } = attemptsAt(queue);
  queue.add("a");
  const attempt = begin();
  queue.done("a");
  step = 100; // each look at the clock is later than the end of any delay
  end(attempt, 0);
  step = 0;
  for (const item of ["b", "c"]) queue.add(item);
  assertEquals([errors, takeAll(queue)], [[], ["b", "c"]]);
  assertEquals(queue.snapshot().delayedItems.map(({ item }) => item), ["a"]);
  queue.cancelDelayed("a");
  queue.forget("a");
  assertEquals(recordsOf(queue), 0);
});
