/**
 * Tests of `@workqueue/config-file` as installed by npm and Bun, from its tarball and the core's tarball. The tests run
 * only on Deno.
 */

import { assertEquals } from "@std/assert";
import { tryExample } from "../config_file/process/example.ts";
import { runtimes } from "../runtimes.ts";
import { everyTest } from "../every.ts";
import { NPM, Project, ROOT } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = {
  concurrency: [4, 4, 4, 4],
  isReadable: true,
  changes: [{ path: "/queues/images/concurrency", old: 4, new: 8, inForce: "now" }],
  isOurs: true,
};

/** Creates a folder with both tarballs, the program and the example. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack("packages/config-file");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("config_file_consumer.ts", import.meta.url), project.path("main.ts"));
  Deno.copyFileSync(new URL("examples/live_limits.ts", ROOT), project.path("live_limits.ts"));
  return project;
}

everyTest("config-file: the tarball installs beside the core's, type-checks and runs under Node", async () => {
  using project = await prepare();
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
  await project.run(NPM, [...install, "./workqueue-core.tgz", "./workqueue-config-file.tgz"]);
  for (const age of ["newest", "oldest"] as const) {
    await tsc(project.folder, age, "main.ts", "--noEmit", "--module", "nodenext");
  }
  await project.run(NPM, [...install, "@types/node@20"]);
  const files = ["main.ts", "live_limits.ts"];
  await tsc(project.folder, "newest", ...files, "--types", "node", "--module", "nodenext", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), EXPECTED);
  await tryExample(["node", project.path("js/live_limits.js")]);
});

everyTest("config-file: the tarball installs beside the core's and runs under Bun", async () => {
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", "./workqueue-core.tgz", "./workqueue-config-file.tgz"]);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), EXPECTED);
});
