import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { cut, cutMiddle, Places, widthOf } from "../../packages/cli/view/columns.ts";

Deno.test("columns: wide characters and emoji take two columns, marks and escape sequences none", () => {
  assertEquals(["abc", "日本", "👍🏽", "👨‍👩‍👧‍👦", "e\u0301", "\x1b[31mred\x1b[39m"].map(widthOf), [3, 4, 2, 2, 1, 3]);
});

Deno.test("columns: a text that is too wide is cut, and ends with a mark", () => {
  assertEquals([cut("abcdef", 6), cut("abcdef", 5), cut("日本語", 5), cut("abc", 1), cut("abc", 0)], [
    "abcdef",
    "abcd…",
    "日本…",
    "…",
    "",
  ]);
  assertEquals([cutMiddle("abcdef", 6), cutMiddle("abcdef", 5), cutMiddle("ab👍👍", 5), cutMiddle("abc", 1)], [
    "abcdef",
    "ab…ef",
    "ab…👍",
    "…",
  ]);
});

Deno.test("columns: any text is cut to the width, and loses no more than necessary", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, columns) => {
    for (const shown of [cut(text, columns), cutMiddle(text, columns)]) {
      assert(widthOf(shown) <= columns, `'${shown}' takes ${widthOf(shown)}`);
      if (widthOf(text) <= columns) assertEquals(shown, text);
      else assert(widthOf(shown) >= columns - 2);
    }
  }));
});

Deno.test("columns: a field stays as wide as its widest text", () => {
  const places = new Places();
  assertEquals([places.fill("a", "9"), places.fill("a", "10"), places.fill("a", "9"), places.fill("b", "")], [
    "9",
    "10",
    "9 ",
    "",
  ]);
});
