/** Contract suite for failed calls of queues that processes share: who is told of an error. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { RemoteLease, RemoteQueue } from "@workqueue/engine";
import { setImmediate } from "node:timers/promises";
import type { RemotePlace, RemoteTest } from "./remote_place.ts";

/** Calls that fail, because an argument is invalid. */
const FAILING: Readonly<Record<string, (queue: RemoteQueue, lease: RemoteLease) => Promise<unknown>>> = {
  add: (queue) => queue.add(1 as never),
  addAll: (queue) => queue.addAll([1] as never),
  addAfter: (queue) => queue.addAfter("a", NaN),
  addRateLimited: (queue) => queue.addRateLimited("a", { minDelay: NaN }),
  cancelDelayed: (queue) => queue.cancelDelayed(1 as never),
  promoteDelayed: (queue) => queue.promoteDelayed(1 as never),
  forget: (queue) => queue.forget(1 as never),
  numRequeues: (queue) => queue.numRequeues(1 as never),
  resume: (queue) => queue.resume({ pause: -1 }),
  pauseGroup: (queue) => queue.pauseGroup("a", NaN),
  resumeGroup: (queue) => queue.resumeGroup(1 as never),
  snapshot: (queue) => queue.snapshot({ limit: NaN }),
  givenUp: (queue) => queue.givenUp({ limit: NaN }),
  redrive: (queue) => queue.redrive({ rate: NaN }),
  discard: (queue) => queue.discard({ keys: 1 as never }),
  "finish of a lease": (_queue, lease) => lease.finish({ requeueAfter: NaN }),
};

/** Ways to handle a rejection. */
const HANDLED: Readonly<Record<string, (call: Promise<unknown>) => Promise<unknown>>> = {
  await: async (call) => {
    try {
      await call;
    } catch {
      // handled
    }
  },
  catch: (call) => call.catch(() => {}),
  then: (call) => call.then(undefined, () => {}),
  finally: (call) => call.finally(() => {}).catch(() => {}),
  allSettled: (call) => Promise.allSettled([call]),
  "in a later microtask": (call) => Promise.resolve().then(() => call).catch(() => {}),
};

/** Runs `act`, and returns the lines that are written to `console.error` until the calls have failed. */
async function linesOf(act: () => unknown): Promise<string[]> {
  const lines: string[] = [];
  const { error } = console;
  console.error = (...words: unknown[]) => lines.push(words.join(" "));
  try {
    await act();
    for (let turns = 0; turns < 5; turns++) await setImmediate();
  } finally {
    console.error = error;
  }
  return lines;
}

/** Runs `act` with a queue, and with a lease on one of its items. */
async function withQueue(
  place: RemotePlace,
  options: { readonly onQueueError?: (error: unknown) => void },
  act: (queue: RemoteQueue, lease: RemoteLease) => Promise<void>,
): Promise<void> {
  await using queue = place.open({ name: "calls", ...options });
  await queue.add("taken");
  await using lease = await queue.get() as RemoteLease;
  await act(queue, lease);
}

/** Registers the suite for one engine. */
export function callErrorsSuite(test: RemoteTest): void {
  test("the error of a call is written to the console only if the caller doesn't handle it", async (place) => {
    await withQueue(place, {}, async (queue, lease) => {
      for (const [method, call] of Object.entries(FAILING)) {
        for (const [way, handle] of Object.entries(HANDLED)) {
          assertEquals(await linesOf(() => handle(call(queue, lease))), [], `${method}, ${way}`);
        }
      }
    });
  });

  test("the error of a call is written to the console if nothing handles it", async (place) => {
    for (const [method, call] of Object.entries(FAILING)) {
      await withQueue(place, {}, async (queue, lease) => { // of its own, as each writes at most one line per second
        const lines = await linesOf(() => void call(queue, lease));
        assertEquals(lines.length, 1, method);
        assertStringIncludes(lines[0]!, 'Queue "calls" on ');
      });
    }
  });

  test("with onQueueError, each error of a call is reported once, handled or not", async (place) => {
    const errors: unknown[] = [];
    await withQueue(place, { onQueueError: (error) => void errors.push(error) }, async (queue, lease) => {
      for (const [method, call] of Object.entries(FAILING)) {
        const lines = await linesOf(async () => {
          const error = await assertRejects(() => call(queue, lease), Error);
          assertEquals(errors.splice(0), [error], method);
          void call(queue, lease);
        });
        assertEquals([lines, errors.splice(0).length], [[], 1], method);
      }
    });
  });

  test("a call that succeeds is an ordinary promise", async (place) => {
    await withQueue(place, {}, async (queue) => {
      const call = queue.numRequeues("a");
      assert(call instanceof Promise);
      assertEquals(Object.getPrototypeOf(call.then()), Promise.prototype);
      assertEquals(await call, 0);
    });
  });
}
