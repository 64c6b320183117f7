/**
 * Tests of `@workqueue/prometheus` as installed by npm and Bun, from its tarball and the core's tarball. The tests run
 * only on Deno.
 */

import { assertEquals } from "@std/assert";
import { tryExample } from "../prometheus/example.ts";
import { runtimes } from "../runtimes.ts";
import { everyTest } from "../every.ts";
import { NPM, Project, ROOT } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = { adds: [{ value: 3, labels: { name: "images" } }], isSame: true, isOwn: true };
const PACKAGES = ["./workqueue-core.tgz", "./workqueue-prometheus.tgz", "prom-client@15"];

/** Creates a folder with both tarballs, the program and the example. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack("packages/prometheus");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("prometheus_consumer.ts", import.meta.url), project.path("main.ts"));
  Deno.copyFileSync(new URL("examples/metrics.ts", ROOT), project.path("metrics.ts"));
  return project;
}

everyTest("prometheus: the tarball installs beside the core's, type-checks and runs under Node", async () => {
  using project = await prepare();
  await project.run(NPM, ["install", "--prefer-offline", "--no-audit", "--no-fund", ...PACKAGES, "@types/node@20"]);
  for (const age of ["newest", "oldest"] as const) {
    await tsc(project.folder, age, "main.ts", "--noEmit", "--module", "nodenext");
  }
  const types = ["--types", "node"];
  await tsc(project.folder, "newest", "main.ts", "metrics.ts", ...types, "--module", "nodenext", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), EXPECTED);
  await tryExample(["node", project.path("js/metrics.js")]);
});

everyTest("prometheus: the tarball installs beside the core's and runs under Bun", async () => {
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", ...PACKAGES]);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), EXPECTED);
  await tryExample([bun, project.path("metrics.ts")]);
});
