import { assertEquals } from "@std/assert";
import { LineNumbers } from "../../packages/cli/items/line_numbers.ts";

Deno.test("line numbers: many lines keep the latest number that each was given", () => {
  const numbers = new LineNumbers();
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, () => i + 1), 0);
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, (before) => before * 2), i + 1);
  for (let i = 0; i < 5000; i++) assertEquals(numbers.change(`line ${i}`, (before) => before), 2 * i + 2);
  assertEquals(numbers.change("another", () => 0), 0);
});
