import { assertEquals } from "@std/assert";
import { Finishes } from "../../packages/engine/finishes.ts";
import type { HeldLease } from "../../packages/engine/lease.ts";

Deno.test("finishes: a call has only outcomes with the same limiter, in their order", () => {
  const finishes = new Finishes<string>();
  const all = ["x", undefined, "x", undefined, "y", "x", undefined, "x"];
  for (const [i, rules] of all.entries()) {
    const finish = { key: `${i}`, token: "1", ...(rules === undefined ? { kind: "done" } : { kind: "retry", rules }) };
    finishes.add({} as HeldLease<string>, finish as never);
  }
  const keys = (max: number) => finishes.next(max).map(({ finish }) => finish.key).join("");
  assertEquals([keys(3), keys(9), keys(9), keys(9)], ["012", "34", "567", ""]);
  assertEquals(finishes.size, 0);
});
