import { assertEquals, assertThrows } from "@std/assert";
import { Items } from "../../packages/engine/items.ts";

Deno.test("rule 8: a shared queue refuses a key that is not a string, and the error shows the key", () => {
  const keys: [key: unknown, shown: string][] = [[undefined, "undefined"], [NaN, "NaN"], [-0, "-0"], [null, "null"]];
  for (const [key, shown] of keys) {
    const byKeyOf = new Items<object>(() => key as string);
    assertThrows(
      () => byKeyOf.write("add item", {}),
      TypeError,
      `Cannot add item: 'keyOf' must return a string, got ${shown}`,
    );
    const itself = new Items<unknown>(undefined);
    assertThrows(
      () => itself.write("add item", key),
      TypeError,
      `Cannot add item: the item must be a string where there is no 'keyOf', got ${shown}`,
    );
  }
  assertEquals(new Items<unknown>(() => "undefined").write("add item", {}), { key: "undefined", payload: "{}" });
});
