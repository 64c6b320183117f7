/** The package as npm and Bun install it, from a tarball. Only on Deno, which packs it and starts the others. */

import { assertEquals } from "@std/assert";
import tests from "../package.json" with { type: "json" };
import { runtimes } from "../runtimes.ts";
import { expectedFindings, Project, ROOT, run } from "./project.ts";

/** Type-checks as those do who take nothing on trust, least of all the package's own types. */
async function tsc(folder: string | URL, ...args: string[]): Promise<void> {
  const options = [
    "--strict",
    "--skipLibCheck",
    "false",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom,esnext.disposable",
  ];
  const compiler = `npm:typescript@${tests.dependencies.typescript}/tsc`;
  await run(Deno.execPath(), ["run", "-A", "--no-config", compiler, "--ignoreConfig", ...options, ...args], folder);
}

Deno.test("npm: the tarball installs with no network, type-checks and runs under Node", async () => {
  using project = new Project();
  await project.npmInstall();
  project.writeConsumer();
  await tsc(project.folder, "main.ts", "--module", "nodenext", "--rewriteRelativeImportExtensions", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), await expectedFindings());
});

Deno.test("npm: its types are found as bundlers look for them, too", async () => {
  using project = new Project();
  await project.npmInstall();
  project.writeConsumer();
  const bundler = ["--module", "preserve", "--moduleResolution", "bundler"];
  await tsc(project.folder, "main.ts", "--noEmit", "--allowImportingTsExtensions", ...bundler);
});

Deno.test("npm: the tarball installs and runs under Bun", async () => {
  using project = new Project();
  await project.pack();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", "./core.tgz"]);
  project.writeConsumer();
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), await expectedFindings());
});

Deno.test("npm: the core uses nothing that came to JavaScript after ES2022, but for disposal", async () => {
  await tsc(ROOT, "mod.ts", "--noEmit", "--allowImportingTsExtensions", "--module", "nodenext");
});
