/** Tests of callbacks that a queue calls when the queue has less to do. */

import { assertEquals } from "@std/assert";
import { Watchers } from "../../lib/structures/watchers.ts";

Deno.test("watchers: a function that is added twice is called twice, and removed once by each unsubscribe function", () => {
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
