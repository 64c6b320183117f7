/**
 * Tests of `@workqueue/opentelemetry` as installed by npm and Bun, from its tarball and the core's tarball. These tests
 * use version 2 of the SDK. Other tests use version 3, which requires Node 22. The tests run only on Deno.
 */

import { assertEquals } from "@std/assert";
import { globSync } from "node:fs";
import { runtimes } from "../runtimes.ts";
import { everyTest } from "../every.ts";
import { NPM, Project } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = {
  adds: ['workqueue_adds_total{name="images"} 3'], // two new items and one retry
  buckets: 13,
  outcomes: ["succeeded", "failed", "succeeded"],
  isSame: true,
};

const PACKAGES = [
  "./workqueue-core.tgz",
  "./workqueue-opentelemetry.tgz",
  "@opentelemetry/api@1",
  "@opentelemetry/exporter-prometheus@0.223",
  "@opentelemetry/sdk-metrics@2",
  "@opentelemetry/sdk-trace@2",
];

/** Creates a folder with both tarballs and the program. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack("packages/opentelemetry");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("opentelemetry_consumer.ts", import.meta.url), project.path("main.ts"));
  return project;
}

/** Returns the number of installed copies of OpenTelemetry's API. */
function copiesOfApi(project: Project): number {
  return globSync("**/@opentelemetry/api/package.json", { cwd: project.path("node_modules") }).length;
}

everyTest(
  "opentelemetry: the tarball installs beside the core's and the SDK, type-checks and runs under Node",
  async () => {
    using project = await prepare();
    await project.run(NPM, ["install", "--prefer-offline", "--no-audit", "--no-fund", ...PACKAGES, "@types/node@20"]);
    assertEquals(copiesOfApi(project), 1);
    for (const age of ["newest", "oldest"] as const) {
      await tsc(project.folder, age, "main.ts", "--types", "node", "--noEmit", "--module", "nodenext");
    }
    await tsc(project.folder, "newest", "main.ts", "--types", "node", "--module", "nodenext", "--outDir", "js");
    assertEquals(JSON.parse(await project.run("node", ["js/main.js"])), EXPECTED);
  },
);

everyTest("opentelemetry: the tarball installs beside the core's and the SDK, and runs under Bun", async () => {
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", ...PACKAGES]);
  assertEquals(copiesOfApi(project), 1);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts"])), EXPECTED);
});
