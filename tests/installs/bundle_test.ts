/** Tests of the published tarball in bundlers. The tests run only on Deno, which packs the package. */

import { assert } from "@std/assert";
import { build, stop, transform } from "esbuild";
import { gzipSync } from "node:zlib";
import { rollup } from "rollup";
import { packedToPublish } from "../../release/npm_registry.ts";
import { bundle } from "../bundle.ts";
import { EVERY } from "../every.ts";
import { runtimes } from "../runtimes.ts";
import { NPM, Project, ROOT } from "./project.ts";

/** Project that has the published package, and a module for each of its names, which exports only this name. */
class Bundled extends Project {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super();
    this.names = names;
    Deno.mkdirSync(this.path("only"));
    for (const name of names) {
      Deno.writeTextFileSync(this.path(`only/${name}.js`), `export { ${name} } from "@workqueue/core";`);
    }
  }

  async install(): Promise<void> {
    Deno.writeTextFileSync(this.path("package.json"), '{ "type": "module" }');
    const options = ["install", "--offline", "--no-audit", "--no-fund"];
    await this.run(NPM, [...options, `${await packedToPublish(".")}/package.tgz`]);
  }

  /** Returns the sizes of the bundles in a folder, by name. */
  sizesIn(folder: string): Map<string, number> {
    const files = [...Deno.readDirSync(this.path(folder))].map(({ name }) => name);
    return new Map(
      files.map((file) => [file.replace(".js", ""), gzipped(Deno.readFileSync(this.path(`${folder}/${file}`)))]),
    );
  }
}

const gzipped = (code: string | Uint8Array) => gzipSync(code, { level: 9 }).length;

Deno.test("a bundle of the tarball contains only the code that it uses", async () => {
  using project = new Bundled([]);
  await project.install();
  const bundled = (contents: string) => bundle({ stdin: { contents, resolveDir: project.path(".") }, minify: true });
  const length = gzipped(await bundled('export { createWorkQueue } from "@workqueue/core";'));
  assert(length > 1000 && length <= 7_460, `${length} bytes`);
  const inspection = await bundled('import "@workqueue/core/inspect";'); // a module that is imported for its effect
  assert(inspection.length > 100, `${inspection.length} bytes`);
  const unused = await bundled('import { runWorkers } from "@workqueue/core";');
  assert(unused.length === 0, `${unused.length} bytes`);
});

const NAMES = Object.keys(await import("../../mod.ts"));

/** Names whose bundles Rollup and Bun make. Each of all names takes them a build of its own. */
const OFTEN_USED = ["createFairDiscipline", "createRateLimitingQueue", "createWorkQueue", "loadConfigWith", "result"];

Deno.test("the bundles of esbuild, Rollup and Bun are as small as docs/sizes.md says", async () => {
  using project = new Bundled(NAMES);
  await project.install();
  const entries = NAMES.map((name) => project.path(`only/${name}.js`));
  const options = { bundle: true, format: "esm", target: "es2022", minify: true } as const;
  await build({ ...options, entryPoints: entries, outdir: project.path("esbuild") });
  for (const folder of ["bun", "rollup"]) Deno.mkdirSync(project.path(folder));
  const bun = (await runtimes["Bun"]!())[0]!;
  const core = project.path("node_modules/@workqueue/core/mod.js");
  for (const name of EVERY ? NAMES : OFTEN_USED) {
    const entry = project.path(`only/${name}.js`);
    await project.run(bun, ["build", "--minify", "--outfile", `bun/${name}.js`, entry]);
    Deno.writeTextFileSync(project.path(`rollup/${name}.js`), await bundleOfRollup(entry, core));
  }
  await stop();

  const table = Deno.readTextFileSync(new URL("docs/sizes.md", ROOT)).split("## Each name alone")[1]!;
  const [byRollup, byBun] = [project.sizesIn("rollup"), project.sizesIn("bun")];
  for (const [name, size] of project.sizesIn("esbuild")) {
    const sizes = { esbuild: size, Rollup: byRollup.get(name), Bun: byBun.get(name) };
    const bytes = `${name}: ${JSON.stringify(sizes)} bytes`;
    console.log(bytes);
    const documented = 1000 * Number(table.split(`| \`${name}\` | `)[1]!.split(" ")[0]);
    for (const each of Object.values(sizes)) assert((each ?? 0) <= 1.03 * documented + 100, bytes);
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
