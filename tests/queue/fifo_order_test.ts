import { assertEquals } from "@std/assert";
import { FifoOrder } from "../../lib/queue/fifo_order.ts";
import { NONE, Records } from "../../lib/structures/records.ts";

Deno.test("fifo: peeking shows the first records, up to the requested number, and changes nothing", () => {
  const records = new Records(false, false);
  const order = new FifoOrder(records);
  for (const key of ["a", "b", "c"]) order.push(records.take(key, 1, key, 0));
  const keysOf = (listed: number[]) => listed.map((record) => records.keyOf(record));
  for (const limit of [0, 1, 2, 3, 4]) assertEquals(keysOf(order.peek(limit)), ["a", "b", "c"].slice(0, limit));
  assertEquals(keysOf([order.pop(), order.pop(), order.pop()]), ["a", "b", "c"]);
  assertEquals([order.pop(), order.length], [NONE, 0]);
});
