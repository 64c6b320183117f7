import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { systemClock } from "@workqueue/core";
import { burst } from "../../lib/structures/burst.ts";
import { BurstTime } from "../../lib/structures/burst_time.ts";
import { HandClock } from "../helpers.ts";
import { pause } from "../queue_helpers.ts";

Deno.test("in a burst the system's clock is looked at once, and otherwise each time", async () => {
  await pause();
  const time = new BurstTime(systemClock);
  assert(time.now() !== time.now(), "no burst is on");
  burst.isTooLong();
  const first = time.now();
  assertStrictEquals(time.now(), first);
  await pause();
  assert(time.now() !== first);
  burst.isTooLong();
  assert(time.now() !== first);
  await pause();
});

Deno.test("rule 9: fake time and a third-party clock are looked at each time", () => {
  const clock = new HandClock(5);
  burst.isTooLong();
  const time = new BurstTime(clock);
  assertEquals(time.now().time, 5);
  clock.time = 7;
  assertEquals(time.now().time, 7);

  using fake = new FakeTime();
  const system = new BurstTime(systemClock);
  const before = system.now().time;
  fake.tick(10);
  assertEquals(system.now().time - before, 10);
});
