import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { type Clock, systemClock } from "../../lib/base/clock.ts";
import { RecentTime } from "../../lib/structures/recent_time.ts";

Deno.test("the time of the system clock is at most a millisecond old, even within synchronous code", () => {
  const time = new RecentTime(systemClock);
  for (let round = 0; round < 20; round++) {
    const before = systemClock.now();
    while (systemClock.now() < before + 1.5); // a synchronous handler that takes long
    assert(time.now() >= before, "the time is older than the handler");
  }
});

Deno.test("fake time and any other clock are read at each call", () => {
  {
    using fake = new FakeTime();
    const time = new RecentTime(systemClock);
    const before = time.now();
    fake.tick(1);
    fake.tick(250);
    assertEquals(time.now() - before, 251);
  }
  let now = 0;
  const clock: Clock = { now: () => now += 0.25, setTimeout: () => 0, clearTimeout: () => {} };
  const time = new RecentTime(clock);
  assertEquals([time.now(), time.now()], [0.25, 0.5]);
});
