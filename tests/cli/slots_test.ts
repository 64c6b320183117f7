import { assertEquals } from "@std/assert";
import { Slots } from "../../packages/cli/children/slots.ts";

Deno.test("slots: the lowest free slot is next", () => {
  const slots = new Slots();
  assertEquals([slots.take(), slots.take(), slots.take()], [1, 2, 3]);
  slots.free(2);
  slots.free(1);
  assertEquals([slots.count, slots.take(), slots.take(), slots.take(), slots.count], [1, 1, 2, 4, 4]);
});
