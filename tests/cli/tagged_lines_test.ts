import { assertEquals } from "@std/assert";
import { colored, plain } from "../../packages/cli/view/style.ts";
import { tagLines } from "../../packages/cli/view/tagged_lines.ts";

const tag = (item: string, lines: string) => tagLines(item, new TextEncoder().encode(lines), plain);

Deno.test("tagged lines: each line begins with its item, and ends in a line feed", () => {
  assertEquals(tag("a", "one\n\ntwo\r\nthree"), "a | one\na | \na | two\na | three\n");
  assertEquals(tag("日本", "\n"), "日本 | \n");
  assertEquals(tagLines("a", new TextEncoder().encode("one\n"), colored), "\x1b[2ma |\x1b[22m one\n");
});

Deno.test("tagged lines: long items are shortened in the middle", () => {
  assertEquals(tag("https://example.com/a/long/path.html", "x\n"), "https://exam…g/path.html | x\n");
});

Deno.test("tagged lines: neither the item nor the line can write elsewhere on the terminal", () => {
  assertEquals(tag("\x1b[2Ja\nb", "x\n"), "\u{FFFD}[2Ja\u{FFFD}b | x\n");
  assertEquals(tag("a", "\x1b[Aup\x07\tx\n"), "a | \u{FFFD}[Aup\u{FFFD}\tx\n");
  assertEquals(tag("a", "\x1b[1;31mred\n"), "a | \x1b[1;31mred\x1b[0m\n"); // colors are kept, but end with the line
  assertEquals(tag("a", "\r 10 %\r 90 %\r100 %\r\n"), "a | 100 %\n"); // each carriage return discards earlier text
});
