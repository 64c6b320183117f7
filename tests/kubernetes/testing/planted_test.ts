/** Test of the bugs that random runs must find: each of them has a place in the package. */

import { assertEquals } from "@std/assert";
import { readFileSync } from "node:fs";
import { PLANTED } from "../real/random/planted.ts";

Deno.test("each bug that random runs must find can be planted", () => {
  const places = PLANTED.map(({ name, file, find }) => {
    const source = readFileSync(new URL(`../../../packages/kubernetes/${file}`, import.meta.url), "utf8");
    return [name, source.split(find).length - 1];
  });
  assertEquals(places, PLANTED.map(({ name }) => [name, 1]));
});
