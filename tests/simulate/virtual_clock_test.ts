import { assertEquals } from "@std/assert";
import { VirtualClock } from "../../packages/simulate/time/virtual_clock.ts";

Deno.test("virtual clock: time jumps from timer to timer, and equal times keep their order", async () => {
  const clock = new VirtualClock();
  const fired: string[] = [];
  const set = (name: string, ms: number) => clock.setTimeout(() => void fired.push(`${name} ${clock.now()}`), ms);
  set("c", 5000);
  set("a", 10);
  set("d", 5000);
  const stopped = set("never", 20);
  set("b", 10);
  clock.clearTimeout(stopped);
  clock.clearTimeout(stopped);
  clock.clearTimeout(undefined);
  await clock.run(Infinity, () => false);
  assertEquals(fired, ["a 10", "b 10", "c 5000", "d 5000"]);
  assertEquals([clock.now(), clock.isIdle], [5000, true]);
});

Deno.test("virtual clock: promise callbacks of an instant run before the time advances", async () => {
  const clock = new VirtualClock();
  const seen: unknown[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
  const work = async (name: string) => {
    for (let i = 0; i < 3; i++) {
      await sleep(10);
      for (let j = 0; j < 50; j++) await undefined; // many promise callbacks, all in the same instant
      seen.push(`${name} ${clock.now()}`);
    }
  };
  const all = Promise.all([work("a"), work("b")]);
  await clock.run(Infinity, () => false);
  await all;
  assertEquals(seen, ["a 10", "b 10", "a 20", "b 20", "a 30", "b 30"]);
});

Deno.test("virtual clock: timers without a delay fire in the same instant, and a negative delay counts as 0", async () => {
  const clock = new VirtualClock();
  const fired: number[] = [];
  clock.setTimeout(() => {
    clock.setTimeout(() => void fired.push(clock.now()), 0);
    clock.setTimeout(() => void fired.push(clock.now()), -5);
    clock.setTimeout(() => void fired.push(clock.now()), NaN);
  }, 7);
  await clock.run(Infinity, () => false);
  assertEquals(fired, [7, 7, 7]);
});

Deno.test("virtual clock: a run ends when the caller says so, and can continue", async () => {
  const clock = new VirtualClock();
  let ticks = 0;
  const tick = () => {
    ticks++;
    clock.setTimeout(tick, 100);
  };
  clock.setTimeout(tick, 100);
  await clock.run(Infinity, () => clock.now() >= 1000);
  assertEquals([ticks, clock.now()], [10, 1000]);
  await clock.run(1550, () => false);
  assertEquals([ticks, clock.now()], [15, 1550]);
  await clock.run(1600, () => false);
  assertEquals([ticks, clock.now()], [16, 1600]);
});
