/** Handlers that set a minimum delay for the retry of their item. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  RetryAfterError,
} from "@workqueue/core";
import { type Engine, inMemory, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush, isSettled } from "../queue_helpers.ts";
import { loadSecondCopy } from "../second_copy.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });

/**
 * Returns the start times of the attempts of "a". Each of the first attempts fails with one of the given errors, in
 * order.
 */
async function attemptsOf(
  { runWorkers }: Engine,
  errors: unknown[],
  clock = new HandClock(),
  queue = newQueue(clock),
): Promise<number[]> {
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt <= errors.length) throw errors[attempt - 1];
  }, { clock, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(100_000);
  await pool.stop();
  return beganAt;
}

function newQueue(clock: HandClock): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(limiter(), { clock });
}

Deno.test("rule 11: a retry is due no sooner than the RetryAfterError says, and no sooner than the limiter says", async () => {
  assertEquals(await attemptsOf(inMemory, [new RetryAfterError("30s")]), [0, 30_000]);
  assertEquals(await attemptsOf(inMemory, [new RetryAfterError(4)]), [0, 10]);
  assertEquals(await attemptsOf(inMemory, [new RetryAfterError(500), new Error("no"), new RetryAfterError(15)]), [
    0,
    500,
    520,
    560,
  ]);
  for (const nothing of [0, -5, "0s", "-1h"]) {
    assertEquals(await attemptsOf(inMemory, [new RetryAfterError(nothing)]), [0, 10]);
  }
});

test("rule 11: without a delay of the limiter, a delay of 1 ms is exactly 1 ms", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>({ when: () => 0, forget() {}, numRequeues: () => 0 }, { clock });
  const pool = runWorkers(queue, () => Promise.reject(new RetryAfterError(1)), { clock, onError() {} });
  queue.add("a");
  await flush();
  assertEquals([queue.length, queue.delayed], [0, 1]);
  await pool.stop();
});

test("rule 11: a RetryAfterError is an ordinary failure: counted, reported, given up after maxRetries", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const reports: string[] = [];
  const pool = runWorkers(queue, () => {
    throw new RetryAfterError("1s", "429");
  }, {
    clock,
    maxRetries: 1,
    onError: (error, item, attempt) => void reports.push(`${error} ${item} ${attempt}`),
    onGiveUp: (error, item, attempts) => void reports.push(`given up: ${error} ${item} ${attempts}`),
  });
  queue.add("a");
  await flush();
  assertEquals(queue.numRequeues("a"), 1);
  await clock.advance(1000);
  assertEquals(reports, [
    "RetryAfterError: 429 a 1",
    "RetryAfterError: 429 a 2",
    "given up: RetryAfterError: 429 a 2",
  ]);
  await pool.stop();
});

test("rule 12: a retry after a RetryAfterError has the priority of its item", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const pool = runWorkers(queue, () => Promise.reject(new RetryAfterError("1s")), { clock, onError() {} });
  queue.add("a", { priority: 7 });
  await flush();
  await pool.stop();
  await clock.advance(1000);
  assertEquals(queue.tryGet()!.priority, 7);
});

test("an add makes a delayed item ready at once", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt === 1) throw new RetryAfterError("1h");
  }, { onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(5);
  queue.add("a");
  await flush();
  assertEquals(beganAt, [0, 5]);
  await pool.stop();
});

test("rule 6: a drain with wait waits as long as a RetryAfterError says", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { attempt }) => {
    beganAt.push(clock.time);
    if (attempt === 1) throw new RetryAfterError("1s");
  }, { onError() {} });
  queue.add("a");
  const drained = queue.shutDownWithDrain({ delayed: "wait" });
  await flush();
  await clock.advance(999);
  assert(!await isSettled(drained));
  await clock.advance(1);
  await drained;
  await pool.finished;
  assertEquals(beganAt, [0, 1000]);
});

test("a handler that timed out may still set the time of the retry", async ({ runWorkers }) => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const beganAt: number[] = [];
  const pool = runWorkers(queue, (_item, { signal, attempt }) => {
    beganAt.push(clock.time);
    if (attempt > 1) return;
    return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new RetryAfterError(200))));
  }, { timeout: 50, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(1000);
  assertEquals(beganAt, [0, 250]);
  await pool.stop();
});

Deno.test("a RetryAfterError of another copy of the package counts, and an object that only looks like one does not", async () => {
  const other = await loadSecondCopy();
  assertEquals(await attemptsOf(inMemory, [new other.RetryAfterError("2s")]), [0, 2000]);
  assertEquals(await attemptsOf(inMemory, [Object.assign(new Error("no"), { name: "RetryAfterError", delay: 2000 })]), [
    0,
    10,
  ]);
  assertEquals(await attemptsOf(inMemory, [{ [Symbol.for("workqueue.retryAfter")]: NaN }]), [0, 10]);
  const hostile = new Proxy({}, {
    get() {
      throw new Error("get");
    },
  });
  assertEquals(await attemptsOf(inMemory, [hostile]), [0, 10]);
});

Deno.test("a RetryAfterError with an invalid delay can't be created", () => {
  assertThrows(
    () => new RetryAfterError(NaN),
    RangeError,
    `Cannot create retry-after error: 'delay' must be a duration such as "250ms", "1h30m" or a number of milliseconds, got NaN`,
  );
  assertThrows(() => new RetryAfterError(Infinity), RangeError);
  for (const wrong of ["30", "soon", undefined, null, new Date()]) {
    assertThrows(() => new RetryAfterError(wrong as never), TypeError, "'delay' must be a duration");
  }
  const error = new RetryAfterError("1.5s", "429 Too Many Requests", { cause: "why" });
  assert(error instanceof Error);
  assertEquals([error.name, error.message, error.cause, error.delay], [
    "RetryAfterError",
    "429 Too Many Requests",
    "why",
    1500,
  ]);
});

/**
 * Creates an error from a response with the given headers, received on 2026-03-01 at 12:00:00 UTC. Returns the error's
 * delay.
 */
function delayOf(retryAfter: string | undefined, headers: Record<string, string> = {}): number | undefined {
  using _time = new FakeTime(Date.UTC(2026, 2, 1, 12));
  if (retryAfter !== undefined) headers = { ...headers, "Retry-After": retryAfter };
  return RetryAfterError.from(new Response(null, { status: 429, headers }))?.delay;
}

Deno.test("RetryAfterError.from: a Retry-After header has seconds, or a date in one of the three forms of RFC 9110", () => {
  assertEquals(["0", "1", " 030 ", "120"].map((text) => delayOf(text)), [0, 1000, 30_000, 120_000]);
  for (const year of ["Sun, 01 Mar 2026 12:01:30 GMT", "Sunday, 01-Mar-26 12:01:30 GMT", "Sun Mar  1 12:01:30 2026"]) {
    assertEquals(delayOf(year), 90_000, year);
  }
  assertEquals(delayOf("Sun Mar 15 12:00:00 2026"), 14 * 24 * 3_600_000);
  assertEquals(delayOf("Sun, 01 Mar 2026 12:00:60 GMT"), 60_000, "a leap second");
  for (const past of ["Sun, 01 Mar 2026 11:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]) {
    assertEquals(delayOf(past), 0, past);
  }
});

Deno.test("RetryAfterError.from: a year of two digits is at most 50 years ahead", () => {
  const years = (days: number) => days * 24 * 3_600_000;
  assertEquals(delayOf("Friday, 01-Mar-30 12:00:00 GMT"), years(1461));
  assertEquals(delayOf("Sunday, 01-Mar-76 12:00:00 GMT"), years(18_263));
  assertEquals(delayOf("Tuesday, 01-Mar-77 12:00:00 GMT"), 0, "1977");
  using _time = new FakeTime(Date.UTC(2099, 11, 31, 12));
  const headers = { "Retry-After": "Friday, 01-Jan-00 12:00:00 GMT" };
  assertEquals(RetryAfterError.from(new Response(null, { headers }))?.delay, years(1), "2100");
});

Deno.test("RetryAfterError.from: without a valid header there is no error", () => {
  for (
    const text of [
      undefined,
      "",
      "-5",
      "+5",
      "1.5",
      "1e3",
      "0x10",
      "5s",
      "soon",
      "try 5",
      "30, 60",
      "Infinity",
      "2026-03-01T12:00:30Z",
      "Sun, 01 Mar 2026 12:00:30",
      "Sun, 01 Mar 2026 12:00:30 +0100",
      "Sun, 1 Mar 2026 12:00:30 GMT",
      "Sun, 00 Mar 2026 12:00:30 GMT",
      "Mon, 30 Feb 2026 12:00:30 GMT",
      "Sun, 01 Foo 2026 12:00:30 GMT",
      "Sun, 01 Mar 2026 24:00:00 GMT",
      "Sun, 01 Mar 2026 12:60:00 GMT",
      "Sun, 01 Mar 2026 12:00:61 GMT",
      "Sun, 01 Mar 2026 12:00:30 GMT or so",
    ]
  ) assertEquals(delayOf(text), undefined, text);
});

Deno.test("RetryAfterError.from: the delay is bounded, and no header makes it throw", () => {
  const longest = 2 ** 31 * 1000;
  for (const long of [`${2 ** 31}`, "9".repeat(20), "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"]) {
    assertEquals(delayOf(long), longest, long);
  }
  assertEquals(delayOf(`${2 ** 31 - 1}`), longest - 1000);
});

Deno.test("RetryAfterError.from: a date counts from the Date of the response, whatever the local clock says", () => {
  const headers = { Date: "Sun, 01 Mar 2026 15:00:00 GMT" };
  assertEquals(delayOf("Sun, 01 Mar 2026 15:00:30 GMT", headers), 30_000);
  assertEquals(delayOf("Sun, 01 Mar 2026 14:59:00 GMT", headers), 0);
  assertEquals(delayOf("30", headers), 30_000);
  assertEquals(delayOf("Sun, 01 Mar 2026 12:00:30 GMT", { Date: "now" }), 30_000);
});

Deno.test("RetryAfterError.from: the message is the status, and the retry is delayed by the header's time", async () => {
  const headers = { "Retry-After": "30" };
  const error = RetryAfterError.from(new Response(null, { status: 429, statusText: "Too Many Requests", headers }));
  assert(error instanceof RetryAfterError);
  assertEquals([error.name, error.message, error.delay], ["RetryAfterError", "429 Too Many Requests", 30_000]);
  assertEquals(await attemptsOf(inMemory, [error]), [0, 30_000]);
  assertEquals(RetryAfterError.from(new Response(null, { status: 503, headers }))?.message, "503");
  assertEquals(RetryAfterError.from({ status: 503, headers: new Map([["retry-after", "1"]]) as never })?.delay, 1000);
  for (const wrong of [undefined, null, "429", {}, { headers: { "retry-after": "30" } }]) {
    assertThrows(
      () => RetryAfterError.from(wrong as never),
      TypeError,
      "Cannot create retry-after error: 'response' must be a Response, got",
    );
  }
});
