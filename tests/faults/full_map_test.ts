/** Tests of adding items when a runtime's `Map` is full. The call to `add` throws, and the queue doesn't change. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type AddOptions,
  createDefaultItemLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type RateLimitingQueue,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { Lifo, take } from "../queue_helpers.ts";

/**
 * Runs `action` and counts the new keys that it adds to maps. Adding the n-th of them throws, as it does in V8 for a
 * map with 2^24 keys. Reports whether `action` tried to add an n-th new key.
 */
function whileMapIsFull(n: number, action: () => void): boolean {
  const { set } = Map.prototype;
  let calls = 0;
  Map.prototype.set = function (...args) {
    if (!this.has(args[0]) && ++calls === n) throw new RangeError("Map maximum size exceeded");
    return set.apply(this, args);
  };
  try {
    action();
  } finally {
    Map.prototype.set = set;
  }
  return calls >= n;
}

interface Item {
  readonly key: string;
}

const variants: Record<string, () => ReturnType<typeof make>> = {
  "first in, first out": () => make({}),
  "with a discipline": () => make({ discipline: new Lifo<Item>() }),
};

function make(options: object) {
  const clock = new HandClock();
  const keyOf = ({ key }: Item) => key;
  return { clock, queue: createRateLimitingQueue<Item>(createDefaultItemLimiter(), { clock, keyOf, ...options }) };
}

const calls: Record<string, (queue: RateLimitingQueue<Item>, options?: AddOptions) => void> = {
  "add": (queue, options) => queue.add({ key: "new" }, options),
  "addAfter": (queue, options) => queue.addAfter({ key: "new" }, 10, options),
  "add of what is ready": (queue, options) => queue.add({ key: "ready" }, options),
  "add of what is processing": (queue, options) => queue.add({ key: "processing" }, options),
  "addAfter of what is delayed": (queue, options) => queue.addAfter({ key: "delayed" }, 5, options),
};

for (const [name, makeQueue] of Object.entries(variants)) {
  for (const [call, run] of Object.entries(calls)) {
    Deno.test(`${name}: an ${call} that the runtime has no memory for throws, and changes nothing`, async () => {
      for (const options of [undefined, { priority: 3 }]) {
        for (let n = 1;; n++) {
          const { queue, clock } = makeQueue();
          queue.add({ key: "processing" });
          const processing = take(queue);
          queue.add({ key: "ready" });
          queue.addAfter({ key: "sooner" }, 1); // due first, so adding other items doesn't set the timer again
          queue.addAfter({ key: "delayed" }, 10);
          const before = queue.snapshot();
          let threw = false;
          const reached = whileMapIsFull(n, () => {
            try {
              run(queue, options);
            } catch (error) {
              assertEquals((error as Error).name, "RangeError");
              threw = true;
            }
          });
          if (!reached) break;
          assertEquals(threw, true);
          assertEquals(queue.snapshot(), before, `call ${n}`);
          run(queue);
          processing[Symbol.dispose]();
          await clock.advance(10);
          const { readyItems } = queue.snapshot();
          const expected = ["ready", "sooner", "delayed"];
          if (call === "add of what is processing") expected.push("processing");
          if (call === "add" || call === "addAfter") expected.push("new");
          assertEquals(readyItems.map(({ item }) => item.key).sort(), expected.sort(), "adding again works");
          assert(readyItems.every(({ priority }) => priority === 0), "what was refused has left no priority");
        }
      }
    });
  }
}

Deno.test("the message says how many keys the runtime allows", () => {
  const queue = createWorkQueue<number>();
  for (let i = 0; i < 3; i++) queue.add(i);
  whileMapIsFull(1, () => {
    assertThrows(() => queue.add(3), RangeError, "Cannot add key: a Map holds no more than 3");
  });
});
