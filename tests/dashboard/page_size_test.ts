import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { PAGE, PAGE_CSP, PLOT } from "../../packages/dashboard/page.ts";

Deno.test("the page takes at most 28 kB gzipped, and 50 kB with the script that draws charts", () => {
  const [page, plot] = [PAGE, PLOT].map((text) => gzipSync(text, { level: 9 }).length) as [number, number];
  assert(page > 10_000 && page <= 28_000, `${page} bytes`);
  assert(page + plot <= 50_000, `${page + plot} bytes`);
});

Deno.test("the page names nothing that it loads, and its policy allows only its scripts, by their hashes", () => {
  assertEquals(
    PAGE.match(/<(?:script|img|iframe)[^>]* src=|<link(?! rel="icon" href="data:,")|@import|url\(| style="/g),
    null,
  );
  assertEquals(PAGE_CSP.match(/unsafe|https?:|\*/g), null);
  assertEquals([...PAGE.matchAll(/"([^"]*\.js)"/g)].map(([, path]) => path), ["api/plot.js"]);
  const plot = createHash("sha256").update(PLOT).digest("base64");
  assertStringIncludes(PAGE_CSP, ` 'sha256-${plot}';`);
});
