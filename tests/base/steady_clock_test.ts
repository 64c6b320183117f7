/** Tests of clocks that throw: the errors that are reported, and the time that is used instead. */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { systemClock } from "@workqueue/core";
import { steadyClock } from "../../lib/base/steady_clock.ts";
import { Console, HandClock } from "../helpers.ts";

function fail(): never {
  throw new Error("broken");
}

Deno.test("a steady clock is steady, and so is the system's clock", () => {
  const steady = steadyClock(new HandClock());
  assertStrictEquals(steadyClock(steady), steady);
  assertStrictEquals(steadyClock(systemClock), systemClock);
  assertStrictEquals(steadyClock(), systemClock);
});

Deno.test("a clock whose now fails is asked again, and then the latest time is used", () => {
  for (const broken of [fail, () => NaN, () => Infinity, () => "5" as never, () => undefined as never]) {
    using printed = new Console();
    const clock = new HandClock(5);
    const steady = steadyClock(clock);
    const { now } = clock;
    const answers = [broken, now, broken, broken, now];
    clock.now = () => answers.shift()!.call(clock);
    assertEquals(steady.now(), 5);
    clock.time = 7;
    assertEquals(printed.lines, []);
    assertEquals([steady.now(), steady.now()], [5, 7]);
    assertEquals(printed.lines.length, 1);
  }
});

Deno.test("the first error of a clock that fails twice in a row is written in one line, and no other", () => {
  using printed = new Console();
  using _time = new FakeTime();
  const clock = Object.assign(new HandClock(), { now: fail, setTimeout: fail });
  const steady = steadyClock(clock);
  for (let i = 0; i < 3; i++) steady.now();
  steady.clearTimeout(steady.setTimeout(() => {}, 10));
  assertEquals(printed.lines, ['Cannot use clock: "Error: broken"']);
});

Deno.test("a console that throws keeps no clock from being steady", () => {
  using _console = new Console(fail);
  assertEquals(steadyClock(Object.assign(new HandClock(), { now: fail })).now(), 0);
});

Deno.test("a timer that a clock would not set twice in a row is one of the system's clock", () => {
  using _console = new Console();
  using time = new FakeTime();
  const clock = Object.assign(new HandClock(), { setTimeout: fail });
  let fired = 0;
  steadyClock(clock).setTimeout(() => fired++, 5000);
  time.tick(4999);
  assertEquals(fired, 0);
  time.tick(1);
  assertEquals(fired, 1);
});

Deno.test("a timer that was cleared never fires, whatever the clock does", async () => {
  using _console = new Console();
  using time = new FakeTime();
  const clock = new HandClock();
  const steady = steadyClock(clock);
  const callback = () => fail();
  Object.assign(clock, { clearTimeout: fail });
  steady.clearTimeout(steady.setTimeout(callback, 10));
  assertEquals(clock.timers, 1);
  Object.assign(clock, { setTimeout: fail });
  steady.clearTimeout(steady.setTimeout(callback, 10));
  time.tick(10);
  await clock.advance(10);
  steady.clearTimeout(undefined);
});

Deno.test("a timer that a clock fires twice calls back once, even if it throws after setting it", async () => {
  const clock = new HandClock();
  const { setTimeout } = clock;
  let fired = 0;
  let isBroken = true;
  clock.setTimeout = (callback, ms) => {
    const handle = setTimeout.call(clock, callback, ms);
    if (isBroken) {
      isBroken = false;
      fail();
    }
    return handle;
  };
  steadyClock(clock).setTimeout(() => fired++, 10);
  await clock.advance(10);
  assertEquals(fired, 1);
});

Deno.test("a timer of a steady clock can keep no process alive", () => {
  const clock = new HandClock();
  const kept: string[] = [];
  clock.setTimeout = () => ({ unref: () => kept.push("timer") }) as never;
  const timer = steadyClock(clock).setTimeout(() => {}, 10) as { unref(): void };
  timer.unref();
  assertEquals(kept, ["timer"]);
});
