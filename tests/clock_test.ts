import { assert, assertEquals, assertFalse, assertLess } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { createDelayingQueue, systemClock, TokenBucket } from "@workqueue/core";

const HOUR = 3_600_000;

/** Whether the system clock reads the runtime's monotonic clock: the two differ by the time between the calls. */
function isMonotonic(): boolean {
  const before = performance.now();
  const now = systemClock.now();
  return before <= now && now <= performance.now();
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

Deno.test("rule 9: the system clock follows whatever replaces globalThis.Date, and only as long", () => {
  const RealDate = globalThis.Date;
  let time = 42;
  try {
    globalThis.Date = class extends RealDate {
      static override now = () => time;
    } as DateConstructor;
    assertEquals(systemClock.now(), 42);
    time = 17;
    assertEquals(systemClock.now(), 17);
  } finally {
    globalThis.Date = RealDate;
  }
  assert(isMonotonic());
});

Deno.test("rule 9: the system clock follows fake time, which came after it, and only as long", () => {
  {
    using time = new FakeTime();
    const before = systemClock.now();
    assertEquals(before, time.now);
    time.tick(1500);
    assertEquals(systemClock.now() - before, 1500);
  }
  assert(isMonotonic());
});

Deno.test("the system clock's timers are those of fake time while it is there", () => {
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

Deno.test("the system clock's timers fire in real time, and not once they are cleared", async () => {
  let isClearedFired = false;
  await new Promise<void>((resolve) => {
    const handle = systemClock.setTimeout(() => isClearedFired = true, 0);
    systemClock.clearTimeout(handle);
    systemClock.setTimeout(() => systemClock.setTimeout(resolve, 0), 0);
  });
  assertFalse(isClearedFired);
});

Deno.test("rule 9: what takes no clock works under fake time with no set-up", () => {
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
