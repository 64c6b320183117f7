import { assert, assertEquals } from "@std/assert";
import { Mean } from "../../disciplines/mean.ts";

Deno.test("mean: of all values at first, and following the latest ones later", () => {
  const mean = new Mean(1);
  assertEquals([mean.count, mean.value], [0, 1]);
  mean.add(10);
  assertEquals([mean.count, mean.value], [1, 10]);
  mean.add(20);
  mean.add(60);
  assertEquals([mean.count, mean.value], [3, 30]);
  for (let i = 0; i < 100_000; i++) mean.add(10);
  for (let i = 0; i < 500; i++) mean.add(1000);
  assert(mean.value > 990 && mean.value <= 1000, `${mean.value}`);
});
