import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { Stopwatch } from "../../packages/cli/system/stopwatch.ts";

/** Runs a test with a stopwatch under fake time. */
function withStopwatch(test: (stopwatch: Stopwatch, time: FakeTime) => void): void {
  const { now } = performance;
  using time = new FakeTime();
  performance.now = () => Date.now();
  try {
    test(new Stopwatch(), time);
  } finally {
    performance.now = now;
  }
}

Deno.test("stopwatch: a timer that ran for 2 of 10 seconds has 8 left after a stop of an hour", () => {
  withStopwatch((stopwatch, time) => {
    let calls = 0;
    stopwatch.setTimer(() => calls++, 10_000);
    time.tick(2000);
    stopwatch.stop();
    stopwatch.stop();
    time.tick(3_600_000);
    stopwatch.start();
    stopwatch.start();
    time.tick(7999);
    assertEquals(calls, 0);
    time.tick(1);
    assertEquals(calls, 1);
    stopwatch.stop();
    stopwatch.start();
    time.tick(20_000);
    assertEquals(calls, 1);
  });
});

Deno.test("stopwatch: its time stands still during stops, and a timer set during a stop begins after it", () => {
  withStopwatch((stopwatch, time) => {
    const start = stopwatch.now();
    time.tick(100);
    stopwatch.stop();
    time.tick(5000);
    let calls = 0;
    stopwatch.setTimer(() => calls++, 50);
    time.tick(5000);
    assertEquals([stopwatch.now() - start, calls], [100, 0]);
    stopwatch.start();
    time.tick(49);
    assertEquals([stopwatch.now() - start, calls], [149, 0]);
    time.tick(1);
    assertEquals(calls, 1);
  });
});

Deno.test("stopwatch: a disposed timer never fires, not even after a stop", () => {
  withStopwatch((stopwatch, time) => {
    let calls = 0;
    const timer = stopwatch.setTimer(() => calls++, 10);
    stopwatch.stop();
    timer[Symbol.dispose]();
    stopwatch.start();
    time.tick(1000);
    assertEquals(calls, 0);
  });
});
