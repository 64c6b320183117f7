import { assertEquals } from "@std/assert";
import { FifoOrder } from "../../disciplines/fifo_order.ts";
import { Seats } from "../../lib/structures/seats.ts";

Deno.test("fifo: a look shows the first seats, as many as were asked for, and changes nothing", () => {
  const seats = new Seats();
  const order = new FifoOrder(seats);
  for (const key of ["a", "b", "c"]) order.push(seats.take(key));
  const keysOf = (listed: number[]) => listed.map((seat) => seats.keyOf(seat));
  for (const limit of [0, 1, 2, 3, 4]) assertEquals(keysOf(order.peek(limit)), ["a", "b", "c"].slice(0, limit));
  assertEquals(keysOf([order.pop(), order.pop(), order.pop()]), ["a", "b", "c"]);
  assertEquals([order.pop(), order.length], [-1, 0]);
});
