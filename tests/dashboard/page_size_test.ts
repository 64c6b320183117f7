import { assert, assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { PAGE, PAGE_CSP } from "../../packages/dashboard/page.ts";

Deno.test("the page takes at most 48 kB gzipped, with all in it", () => {
  const { length } = gzipSync(PAGE, { level: 9 });
  assert(length > 10_000 && length <= 48_000, `${length} bytes`);
});

Deno.test("the page names nothing that it loads, and its policy would allow nothing else", () => {
  assertEquals(
    PAGE.match(/<(?:script|img|iframe)[^>]* src=|<link(?! rel="icon" href="data:,")|@import|url\(| style="/g),
    null,
  );
  assertEquals(PAGE_CSP.match(/unsafe|https?:|\*/g), null);
});
