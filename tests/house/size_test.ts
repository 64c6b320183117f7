import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundle } from "../bundle.ts";

// 4 kB is what it should be. Metrics, disciplines, strict options, fake timers and snapshots are what is beyond.
Deno.test("a bundle holds only what it uses: createWorkQueue alone takes at most 6.6 kB", async () => {
  const mod = fileURLToPath(new URL("../../mod.ts", import.meta.url));
  const contents = `export { createWorkQueue } from ${JSON.stringify(mod)};`;
  const { length } = gzipSync(await bundle({ stdin: { contents, resolveDir: "." }, minify: true }), { level: 9 });
  assert(length > 1000 && length <= 6600, `${length} bytes`);
});
