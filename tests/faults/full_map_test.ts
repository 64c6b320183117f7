/** A runtime's `Map` holds so many keys and no more: whatever throws inside an add, the queue stays as it was. */

import { assertEquals, assertThrows } from "@std/assert";
import { createDefaultItemLimiter, createRateLimitingQueue, createWorkQueue } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { Lifo, take, takeAll } from "../queue_helpers.ts";

/** Does something while the n-th call of `Map.set` from now on throws, as V8's does at 2^24 keys. */
function whileMapIsFull(n: number, action: () => void): boolean {
  const { set } = Map.prototype;
  let calls = 0;
  Map.prototype.set = function (...args) {
    if (++calls === n) throw new RangeError("Map maximum size exceeded");
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

for (const [name, makeQueue] of Object.entries(variants)) {
  for (const call of ["add", "addAfter"] as const) {
    Deno.test(`${name}: an ${call} that the runtime has no room for throws, and changes nothing`, async () => {
      for (let n = 1;; n++) {
        const { queue, clock } = makeQueue();
        queue.add({ key: "ready" });
        queue.add({ key: "held" });
        const held = name === "first in, first out" ? take(queue) : undefined;
        const before = [queue.length, queue.waiting];
        let threw = false;
        const reached = whileMapIsFull(n, () => {
          try {
            if (call === "add") queue.add({ key: "new" });
            else queue.addAfter({ key: "new" }, 10);
          } catch (error) {
            assertEquals((error as Error).name, "RangeError");
            threw = true;
          }
        });
        if (!reached) break;
        assertEquals(threw, true);
        assertEquals([queue.length, queue.waiting], before, `call ${n}`);
        held?.[Symbol.dispose]();
        await clock.advance(10);
        const keys = takeAll(queue).map(({ key }) => key);
        assertEquals(keys.includes("new"), false);
        if (call === "add") queue.add({ key: "new" });
        else queue.addAfter({ key: "new" }, 10);
        await clock.advance(10);
        assertEquals(takeAll(queue), [{ key: "new" }], "adding again works");
      }
    });
  }
}

Deno.test("the message says how many keys the runtime takes", () => {
  const queue = createWorkQueue<number>();
  for (let i = 0; i < 3; i++) queue.add(i);
  whileMapIsFull(1, () => {
    assertThrows(() => queue.add(3), RangeError, "Cannot add key as a Map of this runtime holds no more than 3");
  });
});
