/**
 * Tests of the package as installed by npm and Bun from a tarball. The tests run only on Deno, which packs the tarball
 * and starts the other runtimes.
 */

import { assert, assertEquals } from "@std/assert";
import { runtimes } from "../runtimes.ts";
import { packedToPublish } from "../../release/npm_registry.ts";
import { filesIn } from "../../release/packed.ts";
import { expectedFindings, Project, ROOT } from "./project.ts";
import { OLDEST, tsc } from "./tsc.ts";

Deno.test("npm: the tarball installs without network, type-checks and runs under Node", async () => {
  using project = new Project();
  await project.npmInstall();
  project.writeConsumer();
  const emit = ["--module", "nodenext", "--rewriteRelativeImportExtensions", "--outDir", "js"];
  await tsc(project.folder, "newest", "main.ts", ...emit);
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), await expectedFindings());
});

for (const age of ["newest", "oldest"] as const) {
  Deno.test(`npm: the ${age} TypeScript finds its types both with Node resolution and with bundler resolution`, async () => {
    using project = new Project();
    await project.npmInstall();
    project.writeConsumer();
    const asNode = age === "newest" ? [] : [["nodenext"]]; // the test above has checked that
    for (const resolution of [...asNode, ["esnext", "--moduleResolution", "bundler"]]) {
      await tsc(project.folder, age, "main.ts", "--noEmit", "--allowImportingTsExtensions", "--module", ...resolution);
    }
  });
}

Deno.test("npm: the README names the oldest TypeScript that works", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));
  const [, named] = /Requires TypeScript ([\d.]+) or later/.exec(readme)!;
  assertEquals(OLDEST, `npm:typescript@~${named}`);
});

Deno.test("npm: the tarball installs and runs under Bun", async () => {
  using project = new Project();
  await project.pack(".");
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", "./workqueue-core.tgz"]);
  project.writeConsumer();
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), await expectedFindings());
});

Deno.test("npm: the core uses nothing newer than ES2022, except disposal", async () => {
  await tsc(ROOT, "newest", "mod.ts", "--noEmit", "--allowImportingTsExtensions", "--module", "nodenext");
});

/** Most bytes of the unpacked files that npm users download. */
const MOST_BYTES = 800_000;

Deno.test("npm: the published tarball has code, types, a README, a licence, a changelog and a schema, in at most 800 kB", async () => {
  const folder = await packedToPublish(".");
  using project = new Project();
  await project.run("tar", ["-xzf", `${folder}/package.tgz`]);
  const files = filesIn(project.path("package"));
  const bytes = files.reduce((sum, path) => sum + Deno.statSync(path).size, 0);
  assert(bytes <= MOST_BYTES, `${bytes} bytes`);
  const others = files.map((path) => path.slice(project.path("package/").length))
    .filter((path) => !/\.(js|d\.ts)$/.test(path)).sort();
  assertEquals(others, ["CHANGELOG.md", "LICENSE", "README.md", "package.json", "schema/workqueue.schema.json"]);
  const types = await Deno.readTextFile(project.path("package/lib/queue/work_queue.d.ts"));
  assert(types.includes("Creates a {@linkcode WorkQueue}")); // editors show it
});

Deno.test("npm: the main entry of the core is two files of JavaScript, and each entry exports what its source exports", async () => {
  using project = new Project();
  await project.run("tar", ["-xzf", `${await packedToPublish(".")}/package.tgz`]);
  const imports = (path: string) =>
    [...Deno.readTextFileSync(path).matchAll(/ from ["'](.+?)["'];/g)].map(([, to]) => to);
  assertEquals(imports(project.path("package/mod.js")), ["./joined/main.js"]);
  assertEquals(imports(project.path("package/joined/main.js")), []);
  const manifest = JSON.parse(Deno.readTextFileSync(project.path("package/package.json")));
  for (const [entry, { default: path }] of Object.entries<{ default: string }>(manifest.exports)) {
    const packed = Object.keys(await import(project.path(`package/${path}`)));
    assertEquals(packed, Object.keys(await import(new URL(path.replace(/\.js$/, ".ts"), ROOT).href)), entry);
  }
});
