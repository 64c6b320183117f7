/**
 * Tests of `@workqueue/dashboard` as installed by npm and Bun, from its tarball and the core's tarball. The tests run
 * only on Deno.
 */

import { assertEquals } from "@std/assert";
import { runtimes } from "../runtimes.ts";
import { everyTest } from "../every.ts";
import { NPM, Project } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = { isPage: true, queues: [["images", "memory", "healthy"]] };
const PACKAGES = ["./workqueue-core.tgz", "./workqueue-dashboard.tgz"];

/** Creates a folder with both tarballs and the program. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack("packages/dashboard");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("dashboard_consumer.ts", import.meta.url), project.path("main.ts"));
  return project;
}

everyTest("dashboard: the tarball installs beside the core's, type-checks and runs under Node", async () => {
  using project = await prepare();
  await project.run(NPM, ["install", "--prefer-offline", "--no-audit", "--no-fund", ...PACKAGES]);
  for (const age of ["newest", "oldest"] as const) {
    await tsc(project.folder, age, "main.ts", "--noEmit", "--module", "nodenext");
  }
  await tsc(project.folder, "newest", "main.ts", "--module", "nodenext", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), EXPECTED);
});

everyTest("dashboard: the tarball installs beside the core's and runs under Bun", async () => {
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", ...PACKAGES]);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), EXPECTED);
});
