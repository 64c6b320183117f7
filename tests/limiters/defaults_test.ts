import { assertEquals } from "@std/assert";
import { createDefaultControllerLimiter, createDefaultItemLimiter } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { delays } from "./helpers.ts";

Deno.test("the default controller limiter: 5 ms to 1000 s per item, 10 a second and 100 at once in total", () => {
  const clock = new HandClock();
  const limiter = createDefaultControllerLimiter<number | string>({ clock });
  assertEquals(delays(limiter, "a", 3), [5, 10, 20]);
  for (let item = 0; item < 97; item++) assertEquals(limiter.when(item), 5);
  assertEquals([limiter.when("b"), limiter.when("c")], [100, 200]); // the burst of 100 is used up
  assertEquals(limiter.numRequeues("a"), 3);
  clock.time = 1e6;
  assertEquals(delays(limiter, "a", 30).slice(0, 3), [40, 80, 160]);
  assertEquals(limiter.when("a"), 1_000_000);
  limiter.forget("a");
  clock.time = 1e7;
  assertEquals(limiter.when("a"), 5);
});

Deno.test("the default item limiter: 1 ms to 1000 s per item, and no limit in total", () => {
  const limiter = createDefaultItemLimiter<number | string>();
  assertEquals(delays(limiter, "a", 4), [1, 2, 4, 8]);
  assertEquals(delays(limiter, "a", 1000).at(-1), 1_000_000);
  for (let item = 0; item < 1000; item++) assertEquals(limiter.when(item), 1);
});

Deno.test("limiters that are created twice share nothing", () => {
  for (const create of [createDefaultItemLimiter, createDefaultControllerLimiter]) {
    const [one, two] = [create(), create()];
    one.when("a");
    assertEquals([one.numRequeues("a"), two.numRequeues("a")], [1, 0]);
  }
});
