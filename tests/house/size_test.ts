import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "../bundle.ts";

// 3.6 kB is what it should be. Metrics, disciplines, strict options and fake timers are what is beyond.
Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 5 kB", async () => {
  const mod = fileURLToPath(new URL("../../mod.ts", import.meta.url));
  const contents = `export { createWorkQueue } from ${JSON.stringify(mod)};`;
  const { length } = gzipSync(await bundle({ stdin: { contents, resolveDir: "." }, minify: true }), { level: 9 });
  assert(length > 1000 && length <= 5000, `${length} bytes`);
});
