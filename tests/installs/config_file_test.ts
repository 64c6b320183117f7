/** `@workqueue/config-file` as npm and Bun install it, from tarballs of it and of the core. Only on Deno. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import configFile from "../../packages/config-file/deno.json" with { type: "json" };
import { tryExample } from "../config_file/process/example.ts";
import { relativeLinks } from "../docs/markdown.ts";
import { runtimes } from "../runtimes.ts";
import { manifest, NPM, Project, ROOT, run } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = {
  concurrency: [4, 4, 4, 4],
  isText: true,
  changes: [{ path: "/queues/images/concurrency", old: 4, new: 8, inForce: "now" }],
  isOurs: true,
};

/** A folder with both tarballs, the program and the example. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack();
  await project.pack("config_file.tgz", "packages/config-file");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("config_file_consumer.ts", import.meta.url), project.path("main.ts"));
  Deno.copyFileSync(new URL("examples/live_limits.ts", ROOT), project.path("live_limits.ts"));
  return project;
}

Deno.test("config-file: the tarball installs beside the core's, type-checks and runs under Node", async () => {
  using project = await prepare();
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
  await project.run(NPM, [...install, "./core.tgz", "./config_file.tgz"]);
  for (const age of ["newest", "oldest"] as const) {
    await tsc(project.folder, age, "main.ts", "--noEmit", "--module", "nodenext");
  }
  await project.run(NPM, [...install, "@types/node@20"]);
  const files = ["main.ts", "live_limits.ts"];
  await tsc(project.folder, "newest", ...files, "--types", "node", "--module", "nodenext", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), EXPECTED);
  await tryExample(["node", project.path("js/live_limits.js")]);
});

Deno.test("config-file: the tarball installs beside the core's and runs under Bun", async () => {
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", "./core.tgz", "./config_file.tgz"]);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), EXPECTED);
});

Deno.test("config-file: every symbol is documented, and names no type that is not exported", async () => {
  await run(Deno.execPath(), ["doc", "--lint", "packages/config-file/mod.ts"], ROOT);
});

Deno.test("config-file: what is published is the modules that are used, and what a reader looks for", async () => {
  const folder = new URL("packages/config-file/", ROOT);
  const { stderr } = await run(Deno.execPath(), ["publish", "--dry-run", "--allow-dirty"], folder);
  const files = [...stderr.matchAll(/^ +(file:\S+) \(/gm)].map(([, url]) => url!);
  const { stdout } = await run(Deno.execPath(), ["info", "--json", "mod.ts"], folder);
  const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
  const used = modules.map(({ specifier }) => specifier).filter((url) => url.startsWith(folder.href));
  assertEquals(files.sort(), [...used, `${folder}README.md`, `${folder}deno.json`].sort());

  const readme = await Deno.readTextFile(new URL("README.md", folder));
  assertEquals(relativeLinks(readme), []); // what is there is not published with it
  assertStringIncludes(readme, `https://jsr.io/${manifest.name}/${manifest.version}/docs/`);
});

Deno.test("config-file: it has the version of the core, so that one tag names both", () => {
  assertEquals(configFile.version, manifest.version);
});
