/** Test of the tarball in a bundler. The test runs only on Deno, which packs the package. */

import { assert } from "@std/assert";
import { gzipSync } from "node:zlib";
import { bundle } from "../bundle.ts";
import { Project } from "./project.ts";

Deno.test("a bundle of the tarball contains only the code that it uses", async () => {
  using project = new Project();
  await project.npmInstall();
  const bundled = (contents: string) => bundle({ stdin: { contents, resolveDir: project.path(".") }, minify: true });
  const { length } = gzipSync(await bundled('export { createWorkQueue } from "@workqueue/core";'), { level: 9 });
  assert(length > 1000 && length <= 10_500, `${length} bytes`);
  const inspection = await bundled('import "@workqueue/core/inspect";'); // a module that is imported for its effect
  assert(inspection.length > 100, `${inspection.length} bytes`);
});
