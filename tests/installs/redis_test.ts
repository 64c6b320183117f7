/**
 * Tests of `@workqueue/redis` as installed by npm and Bun, from its tarball and the tarballs of the core and the
 * engine package. The tests use a server. The tests run only on Deno.
 */

import { assertEquals } from "@std/assert";
import { serverTest } from "../redis/redis_tests.ts";
import { RedisServer } from "../redis/server.ts";
import { runtimes } from "../runtimes.ts";
import { NPM, Project } from "./project.ts";
import { tsc } from "./tsc.ts";

const EXPECTED = { attempts: ["a 1", "b 1", "b 2"], isOurs: true };

/** Creates a folder with the tarballs and the program. */
async function prepare(): Promise<Project> {
  const project = new Project();
  await project.pack("packages/redis");
  Deno.writeTextFileSync(project.path("package.json"), '{ "type": "module" }');
  Deno.copyFileSync(new URL("redis_consumer.ts", import.meta.url), project.path("main.ts"));
  return project;
}

serverTest("redis: the tarball installs beside the core's, type-checks and runs under Node", async () => {
  await using server = await RedisServer.start();
  using project = await prepare();
  await project.run(NPM, [
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "./workqueue-core.tgz",
    "./workqueue-engine.tgz",
    "./workqueue-redis.tgz",
  ]);
  for (const age of ["newest", "oldest"] as const) {
    await tsc(project.folder, age, "main.ts", "--noEmit", "--module", "nodenext");
  }
  await tsc(project.folder, "newest", "main.ts", "--module", "nodenext", "--outDir", "js");
  assertEquals(JSON.parse(await project.run("node", ["js/main.js", server.url])), EXPECTED);
});

serverTest("redis: the tarball installs beside the core's and runs under Bun", async () => {
  await using server = await RedisServer.start();
  using project = await prepare();
  const bun = (await runtimes["Bun"]!())[0]!;
  await project.run(bun, ["add", "./workqueue-core.tgz", "./workqueue-engine.tgz", "./workqueue-redis.tgz"]);
  assertEquals(JSON.parse(await project.run(bun, ["main.ts", server.url])), EXPECTED);
});
