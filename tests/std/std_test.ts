/**
 * Tests of the behavior of `@std` that other tests rely on. The tests run with the real packages or with the stand-ins
 * in `std/`, and must pass with both. Any other test that passes and type-checks with the stand-ins should then also do
 * so with the originals.
 */

import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { deadline, delay } from "@std/async";
import { FakeTime } from "@std/testing/time";
import { assertType, type Same } from "../helpers.ts";

const throwing = () => {
  throw new RangeError("out of range");
};
const rejecting = () => Promise.reject(new RangeError("out of range"));

Deno.test("@std: a thrown value has the type unknown, unless its class is given", async () => {
  const [thrown, error] = [assertThrows(throwing), assertThrows(throwing, RangeError, "out")];
  assertType<Same<typeof thrown, unknown>>();
  assertType<Same<typeof error, RangeError>>();
  const [rejected, reason] = [assertRejects(rejecting, "a message"), assertRejects(rejecting, RangeError, "out")];
  assertType<Same<typeof rejected, Promise<unknown>>>();
  assertType<Same<typeof reason, Promise<RangeError>>>();
  for (const value of [thrown, error, await rejected, await reason]) assertInstanceOf(value, RangeError);
  assertStrictEquals(
    assertThrows(() => {
      throw "no error";
    }),
    "no error",
  );
});

Deno.test("@std: an error of another class or with another message is refused, and so is a missing error", async () => {
  assertThrows(() => assertThrows(throwing, TypeError), Error, "RangeError");
  assertThrows(() => assertThrows(throwing, RangeError, "too late"), Error, "too late");
  assertThrows(() => assertThrows(() => {}, "a message"), Error, "a message");
  await assertRejects(() => assertRejects(rejecting, TypeError), Error, "RangeError");
  await assertRejects(() => assertRejects(() => Promise.resolve(), "a message"), Error, "a message");
  await assertRejects(() => assertRejects(throwing), Error);
});

Deno.test("@std: assertions narrow types", () => {
  const narrowed = (value: unknown, flag: string | undefined) => {
    assertInstanceOf(value, Map);
    assertType<Same<typeof value, Map<unknown, unknown>>>();
    assertFalse(flag);
    assertType<Same<typeof flag, "" | undefined>>();
  };
  narrowed(new Map(), "");
});

Deno.test("@std: two errors are never equal, and an error equals itself", () => {
  const error = new Error("a");
  assertEquals([{ error }], [{ error }]);
  assertThrows(() => assertEquals([{ error }], [{ error: new Error("a") }]));
  assertThrows(() => assertEquals(new Map([["a", error]]), new Map([["a", new Error("a")]])));
});

Deno.test("@std: numbers are almost equal within a tolerance that grows with them", () => {
  assertAlmostEquals(1e9, 1e9 + 1);
  assertThrows(() => assertAlmostEquals(1e-9, 2e-9));
  assertThrows(() => assertAlmostEquals(1, 1.1, 0.01, "a message"), Error, "a message");
});

Deno.test("@std: a delay and a deadline use real time, and have the same errors as signals", async () => {
  const reason = new Error("no more");
  const { signal } = new AbortController();
  await delay(0, { signal });
  assertStrictEquals(await assertRejects(() => delay(1e6, { signal: AbortSignal.abort(reason) })), reason);
  assertEquals(await deadline(Promise.resolve(1), 1e6), 1);
  assertEquals((await assertRejects(() => deadline(new Promise(() => {}), 1), DOMException)).name, "TimeoutError");
});

Deno.test("@std: fake time replaces Date, timers and AbortSignal.timeout, and nothing else", () => {
  const real = [performance.now, globalThis.setImmediate, queueMicrotask];
  const replaced = () => [Date, setTimeout, clearTimeout, setInterval, clearInterval, AbortSignal.timeout];
  const before = replaced();
  {
    using _time = new FakeTime();
    replaced().forEach((value, i) => assert(value !== before[i], before[i]!.name));
    assertEquals([performance.now, globalThis.setImmediate, queueMicrotask], real);
    assertThrows(() => new FakeTime());
  }
  assertEquals(replaced(), before);
});

Deno.test("@std: fake time moves to the next timer and fires all timers due then", () => {
  using time = new FakeTime(1000);
  const fired: string[] = [];
  setTimeout(() => fired.push("b"), 20);
  setTimeout(() => fired.push("a"), 10.9); // milliseconds are integers
  setTimeout(() => fired.push("c"), 10);
  AbortSignal.timeout(20).onabort = () => fired.push("aborted");
  assert(time.next());
  assertEquals([fired, time.now], [["a", "c"], 1010]);
  time.now = 1020;
  assertEquals([fired, time.now], [["a", "c", "b", "aborted"], 1020]);
  assertFalse(time.next());
  assertThrows(() => time.now = 1000, RangeError);
});

Deno.test("@std: promises settle before fake time moves in an asynchronous call", async () => {
  using time = new FakeTime(0);
  const settled: number[] = [];
  Promise.resolve().then(() => setTimeout(() => settled.push(time.now), 5));
  await time.tickAsync(5);
  assertEquals(settled, [5]);
  Promise.resolve().then(() => setTimeout(() => settled.push(time.now), 5));
  assert(await time.nextAsync());
  assertEquals(settled, [5, 10]);
});
