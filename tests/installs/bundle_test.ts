/** Tests of the tarball in bundlers. The tests run only on Deno, which packs the package. */

import { assert } from "@std/assert";
import { transform } from "esbuild";
import { gzipSync } from "node:zlib";
import { rollup } from "rollup";
import { bundle } from "../bundle.ts";
import { runtimes } from "../runtimes.ts";
import { Project } from "./project.ts";

/** Returns a project that has the tarball, and a module for each name, which exports only that name. */
async function projectOf(names: readonly string[]): Promise<Project> {
  const project = new Project();
  await project.npmInstall();
  Deno.mkdirSync(project.path("only"));
  for (const name of names) {
    Deno.writeTextFileSync(project.path(`only/${name}.js`), `export { ${name} } from "@workqueue/core";`);
  }
  return project;
}

const gzipped = (code: string | Uint8Array) => gzipSync(code, { level: 9 }).length;

Deno.test("a bundle of the tarball contains only the code that it uses", async () => {
  using project = await projectOf(["createWorkQueue"]);
  const bundled = (contents: string) => bundle({ stdin: { contents, resolveDir: project.path(".") }, minify: true });
  const length = gzipped(await bundled('export { createWorkQueue } from "@workqueue/core";'));
  assert(length > 1000 && length <= 10_500, `${length} bytes`);
  const inspection = await bundled('import "@workqueue/core/inspect";'); // a module that is imported for its effect
  assert(inspection.length > 100, `${inspection.length} bytes`);
  const unused = await bundled('import { runWorkers } from "@workqueue/core";');
  assert(unused.length === 0, `${unused.length} bytes`);
});

const NAMES = ["createFairDiscipline", "createRateLimitingQueue", "createWorkQueue", "loadConfigWith", "runWorkers"];

Deno.test("Rollup makes bundles as small as esbuild, and Bun makes larger ones, as docs/sizes.md says", async () => {
  using project = await projectOf(NAMES);
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, [
    "build",
    "--minify",
    "--root",
    ".",
    "--outdir",
    "bun",
    ...NAMES.map((name) => `./only/${name}.js`),
  ]);
  for (const name of NAMES) {
    const entry = project.path(`only/${name}.js`);
    const size = gzipped(await bundle({ entryPoints: [entry], minify: true }));
    const byBun = gzipped(Deno.readFileSync(project.path(`bun/only/${name}.js`)));
    const byRollup = gzipped(await bundleOfRollup(entry, project.path("node_modules/@workqueue/core/mod.js")));
    const sizes = `${name}: ${size} bytes by esbuild, ${byRollup} by Rollup, ${byBun} by Bun`;
    console.log(sizes);
    assert(byRollup <= 1.03 * size && byBun <= 1.3 * size, sizes);
  }
});

/** Returns the bundle of a module by Rollup, which finds packages only with a plugin, minified by esbuild. */
async function bundleOfRollup(input: string, core: string): Promise<string> {
  const found = { name: "core", resolveId: (id: string) => id === "@workqueue/core" ? core : null };
  const build = await rollup({ input, plugins: [found] });
  const { output: [{ code }] } = await build.generate({ format: "esm" });
  await build.close();
  return (await transform(code, { minify: true })).code;
}
