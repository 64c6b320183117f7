/** Tests of grouping ready items by the first part of their keys. */

import { assertEquals } from "@std/assert";
import { groupsOf, hotGroup } from "../../packages/dashboard/watch/groups.ts";

Deno.test("groups: by the first separator, largest first; keys without a separator belong to no group", () => {
  const keys = ["b/1", "a:1", "a/2:3", "c", "/d", "a|4"];
  assertEquals(groupsOf(keys, undefined), [{ name: "a", count: 3 }, { name: "b", count: 1 }]);
  assertEquals(groupsOf(keys, ":"), [{ name: "a", count: 1 }, { name: "a/2", count: 1 }]);
  assertEquals(groupsOf(Array.from({ length: 200 }, (_, i) => `${i}/x`), undefined).length, 50);
});

Deno.test("groups: a group is hot if it has more than 80 % of at least a hundred items", () => {
  const hot = (count: number, of: number) => hotGroup([{ name: "a", count }, { name: "b", count: 1 }], of)?.name;
  assertEquals([hot(81, 100), hot(80, 100), hot(99, 99), hot(161, 200)], ["a", undefined, undefined, "a"]);
  assertEquals(hotGroup([], 200), undefined);
});
