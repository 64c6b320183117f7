/** Tests of calls to user callbacks: a callback must not harm the code that calls it. */

import { assertEquals } from "@std/assert";
import { callSafely } from "@workqueue/core/internal";
import { flush } from "../queue_helpers.ts";

const BROKEN = new Error("broken");

function fail(): never {
  throw BROKEN;
}

const failures: Record<string, () => unknown> = {
  "throws": fail,
  "rejects": () => Promise.reject(BROKEN),
  "returns a thenable that rejects": () => ({
    then: (_resolve: unknown, reject: (error: unknown) => void) => reject(BROKEN),
  }),
  "returns a thenable that throws": () => ({ then: fail }),
  "returns an object whose then cannot be read": () => ({
    get then() {
      return fail();
    },
  }),
};

Deno.test("call safely: a callback is called once, as a function, with its arguments", async () => {
  const calls: unknown[] = [];
  const errors: unknown[] = [];
  callSafely(
    function (this: unknown, ...args: [string]) {
      calls.push([this, ...args]);
    },
    (error) => errors.push(error),
    "a",
  );
  await flush();
  assertEquals([calls, errors], [[[undefined, "a"]], []]);
});

for (const [how, callback] of Object.entries(failures)) {
  Deno.test(`call safely: if the callback ${how}, onError receives the error once`, async () => {
    const errors: unknown[] = [];
    callSafely(callback, (error) => errors.push(error));
    await flush();
    assertEquals(errors, [BROKEN]);
  });

  Deno.test(`call safely: if the callback ${how} and there is no onError, the error is dropped`, async () => {
    callSafely(callback);
    await flush(); // an unhandled rejection would fail the test
  });

  Deno.test(`call safely: if onError ${how}, its error is dropped`, async () => {
    for (const broken of Object.values(failures)) {
      let calls = 0;
      callSafely(
        broken,
        () => {
          calls++;
          return callback();
        },
      );
      await flush();
      assertEquals(calls, 1);
    }
  });
}

Deno.test("call safely: a thrown error is reported before the call returns", () => {
  const errors: unknown[] = [];
  callSafely(fail, (error) => errors.push(error));
  assertEquals(errors, [BROKEN]);
});

Deno.test("call safely: for a callback without a promise, none is created", () => {
  const errors: unknown[] = [];
  const { Promise } = globalThis;
  globalThis.Promise = undefined as never; // from here on, creating a promise throws
  try {
    for (const value of [undefined, null, 0, "", {}, { then: 1 }]) {
      callSafely((value) => value, (error) => errors.push(error), value);
    }
  } finally {
    globalThis.Promise = Promise;
  }
  assertEquals(errors, []);
});
