/** Tests of callbacks that a queue calls when the queue has less to do. */

import { assertEquals } from "@std/assert";
import { Waits, Watchers } from "../../lib/structures/waiters.ts";

Deno.test("watchers: a function that is added twice is called twice, and each unsubscribe function removes it once", () => {
  const watchers = new Watchers();
  let calls = 0;
  const tell = () => {
    calls = 0;
    watchers.tell();
    return calls;
  };
  const callback = () => void calls++;
  assertEquals(tell(), 0);
  const [first, second] = [watchers.add(callback), watchers.add(callback)];
  assertEquals(tell(), 2);
  first();
  assertEquals(tell(), 1);
  first(); // has no effect
  assertEquals(tell(), 1);
  second();
  assertEquals(tell(), 0);
});

Deno.test("watchers: a callback that another one removes is not called", () => {
  const watchers = new Watchers();
  const calls: string[] = [];
  watchers.add(() => {
    calls.push("first");
    removeSecond();
  });
  const removeSecond = watchers.add(() => void calls.push("second"));
  watchers.add(() => void calls.push("third"));
  watchers.tell();
  assertEquals(calls, ["first", "third"]);
});

Deno.test("waits: once all waits have been aborted, nothing is watched", async () => {
  const watchers = new Watchers();
  const waits = new Waits(() => false, (callback) => watchers.add(callback));
  const controllers = [new AbortController(), new AbortController()];
  const ends = controllers.map(({ signal }, i) => waits.wait(i, signal).catch((reason) => reason));
  assertEquals(watchers.size, 1);
  controllers[0]!.abort("first");
  assertEquals(watchers.size, 1);
  controllers[1]!.abort("second");
  assertEquals(watchers.size, 0);
  assertEquals(await Promise.all(ends), ["first", "second"]);
});
