import { assert, assertEquals, assertFalse, assertLess } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createDelayingQueue, systemClock, TokenBucket } from "@workqueue/core";

const HOUR = 3_600_000;

/**
 * Reports whether the system clock runs as fast as the runtime's monotonic clock. The two clocks may differ by a
 * constant offset: for example, if fake time ran slowly in an earlier test, the system clock lags behind.
 */
function isMonotonic(): boolean {
  const behind = () => performance.now() - systemClock.now();
  const before = behind();
  return Math.abs(behind() - before) < 1000;
}

Deno.test("rule 9: the system clock is the runtime's monotonic clock", () => {
  assert(isMonotonic());
  let last = systemClock.now();
  for (let i = 0; i < 1000; i++) {
    const now = systemClock.now();
    assert(now >= last);
    last = now;
  }
});

Deno.test("rule 9: setting the wall clock does not move the system clock", () => {
  const realNow = Date.now;
  try {
    for (const shift of [-HOUR, HOUR]) {
      const before = systemClock.now();
      Date.now = () => realNow() + shift;
      const elapsed = systemClock.now() - before;
      assert(elapsed >= 0);
      assertLess(elapsed, HOUR / 2);
      assert(isMonotonic());
    }
  } finally {
    Date.now = realNow;
  }
});

/** Replaces globals while `action` runs. */
function whileReplaced(globals: Partial<typeof globalThis>, action: () => void): void {
  const originals = Object.fromEntries(Object.keys(globals).map((name) => [name, Reflect.get(globalThis, name)]));
  Object.assign(globalThis, globals);
  try {
    action();
  } finally {
    Object.assign(globalThis, originals);
  }
}

/** Returns a `Date` class whose `now` is the given function. */
function dateOf(now: () => number): DateConstructor {
  return class extends Date {
    static override now = now;
  } as DateConstructor;
}

const noTimers = { setTimeout: (() => 0) as unknown as typeof setTimeout, clearTimeout: () => {} };

Deno.test("rule 9: the system clock follows fake time only while both Date and setTimeout are replaced", () => {
  let time = 42;
  whileReplaced({ Date: dateOf(() => time), ...noTimers }, () => {
    const before = systemClock.now();
    time += 17;
    assertEquals(systemClock.now() - before, 17);
  });
  assert(isMonotonic());
});

Deno.test("rule 9: a wrapper around Date alone does not count as fake time, even if it fails", () => {
  let shift = 0;
  const RealDate = Date;
  whileReplaced({ Date: dateOf(() => RealDate.now() + shift) }, () => {
    const before = systemClock.now();
    shift = -HOUR;
    const elapsed = systemClock.now() - before;
    assert(elapsed >= 0);
    assertLess(elapsed, HOUR / 2);
  });
});

Deno.test("rule 9: the system clock never goes back as fake time comes and goes, whenever it begins", () => {
  const starts = [undefined, 0, Date.now() - HOUR, Date.now() + 365 * 24 * HOUR];
  let last = systemClock.now();
  for (const start of [...starts, ...starts]) {
    {
      using time = new FakeTime(start);
      const before = systemClock.now();
      assert(before >= last);
      assertLess(before - last, HOUR / 2);
      time.tick(1500);
      assertEquals(Math.round(systemClock.now() - before), 1500);
      last = systemClock.now();
    }
    assert(systemClock.now() >= last);
    assert(isMonotonic());
    last = systemClock.now();
  }
});

Deno.test("rule 9: fake time that follows other fake time does not turn the clock back", () => {
  let before: number;
  {
    using time = new FakeTime();
    time.tick(HOUR);
    before = systemClock.now();
  }
  using time = new FakeTime();
  assert(systemClock.now() >= before);
  before = systemClock.now();
  time.tick(1000);
  assertEquals(Math.round(systemClock.now() - before), 1000);
});

Deno.test("rule 9: timers set before fake time are due in fake time, beside timers set later", () => {
  using queue = createDelayingQueue<string>();
  queue.addAfter("before", 10_000);
  using time = new FakeTime();
  queue.addAfter("under fake time", 1000);
  time.tick(999);
  assertEquals(queue.length, 0);
  time.tick(1);
  assertEquals(queue.length, 1);
  time.tick(10_000);
  assertEquals([queue.length, queue.delayed], [2, 0]);
});

Deno.test("rule 9: timers set in fake time are due in real time once it is back", async () => {
  using queue = createDelayingQueue<string>();
  {
    using _time = new FakeTime();
    queue.addAfter("a", 20);
  }
  queue.addAfter("b", 10_000);
  using lease = await queue.get();
  assertEquals(lease.item, "a");
});

Deno.test("rule 9: a timer moves to fake time with its remaining time", () => {
  let isFired = false;
  systemClock.setTimeout(() => isFired = true, 1000);
  using time = new FakeTime();
  systemClock.now();
  time.tick(990);
  assertFalse(isFired);
  time.tick(20);
  assert(isFired);
});

Deno.test("rule 9: a timer that fires in real time during fake time waits for fake time", async () => {
  const fired: string[] = [];
  systemClock.setTimeout(() => fired.push("real"), 20);
  const over = new Promise((resolve) => setTimeout(resolve, 40));
  using time = new FakeTime();
  await over;
  assertEquals(fired, []);
  time.tick(20);
  assertEquals(fired, ["real"]);
});

Deno.test("rule 9: a bucket continues before, during and after fake time", async () => {
  const bucket = new TokenBucket(50, 1);
  assert(bucket.allow());
  let lastTaken: number;
  {
    using time = new FakeTime();
    time.tick(20); // the bucket has not read fake time yet
    assert(bucket.allow());
    assertFalse(bucket.allow());
    time.tick(20);
    lastTaken = performance.now();
    assert(bucket.allow());
  }
  await bucket.wait();
  const isNextThere = bucket.allow();
  const isSlow = performance.now() - lastTaken >= 40; // the time of two tokens has passed
  assert(!isNextThere || isSlow);
});

Deno.test("rule 9: timers of fake time that other fake timers replace are due in the latter", () => {
  using queue = createDelayingQueue<string>();
  let first = 0;
  whileReplaced({ Date: dateOf(() => first), ...noTimers }, () => {
    queue.addAfter("before", 1000);
    first = 10;
  });
  using time = new FakeTime(5);
  queue.addAfter("after", 5000);
  time.tick(990);
  assertEquals(queue.length, 0);
  time.tick(10);
  assertEquals(queue.length, 1);
  time.tick(4000);
  assertEquals([queue.length, queue.delayed], [2, 0]);
});

Deno.test("rule 9: a drain finds timers of fake time that has ended", async () => {
  const queue = createDelayingQueue<string>();
  {
    using _time = new FakeTime();
    queue.addAfter("a", 20);
  }
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  (await queue.get())[Symbol.dispose]();
  await drained;
});

Deno.test("rule 9: a queue may be shut down after the fake time of its timers has ended", () => {
  const queue = createDelayingQueue<string>();
  {
    using _time = new FakeTime();
    queue.addAfter("a", 1000);
  }
  queue.shutDown();
  assertEquals(queue.delayed, 0);
});

Deno.test("the system clock uses the timers of fake time during fake time", () => {
  using time = new FakeTime();
  const fired: string[] = [];
  systemClock.setTimeout(() => fired.push("a"), 100);
  const handle = systemClock.setTimeout(() => fired.push("cleared"), 100);
  systemClock.setTimeout(() => fired.push("b"), 50);
  systemClock.clearTimeout(handle);
  time.tick(49);
  assertEquals(fired, []);
  time.tick(1);
  assertEquals(fired, ["b"]);
  time.tick(1000);
  assertEquals(fired, ["b", "a"]);
});

Deno.test("the system clock's timers fire in real time, and not after they are cleared", async () => {
  let isClearedFired = false;
  await new Promise<void>((resolve) => {
    const handle = systemClock.setTimeout(() => isClearedFired = true, 0);
    systemClock.clearTimeout(handle);
    systemClock.setTimeout(() => systemClock.setTimeout(resolve, 0), 0);
  });
  assertFalse(isClearedFired);
});

Deno.test("rule 9: code that takes no clock works under fake time without set-up", () => {
  using time = new FakeTime();
  using queue = createDelayingQueue<string>();
  const bucket = new TokenBucket(1, 1);
  queue.addAfter("a", 1000);
  bucket.allow();
  time.tick(999);
  assertEquals([queue.length, bucket.allow()], [0, false]);
  time.tick(1);
  assertEquals([queue.length, bucket.allow()], [1, true]);
});
