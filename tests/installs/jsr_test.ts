/**
 * Tests of the package as served by JSR. The tests run only on Deno, because they use Deno to list the published files
 * and to run programs with an empty cache.
 */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { JsrRegistry, publishedFiles } from "../../release/jsr_registry.ts";
import { expectedFindings, manifest, Project, ROOT, run } from "./project.ts";

/**
 * Installs the package as described in the README, with an empty cache. Returns the environment variables that a
 * program needs to use this installation.
 */
async function add(project: Project, registry: JsrRegistry): Promise<Record<string, string>> {
  const env = { JSR_URL: registry.url, DENO_DIR: project.path("deno_dir") };
  await project.run(Deno.execPath(), ["add", `jsr:${manifest.name}`], env);
  return env;
}

Deno.test("JSR: the published package installs, type-checks and runs under Deno, without permissions", async () => {
  await using registry = new JsrRegistry();
  await registry.publish(".");
  using project = new Project();
  const env = await add(project, registry);
  project.writeConsumer(`jsr:${manifest.name}@^${manifest.version}`);
  const stdout = await project.run(Deno.execPath(), ["run", "--check", "--no-prompt", "main.ts"], env);
  assertEquals(JSON.parse(stdout), await expectedFindings());
});

Deno.test("JSR: the published package contains the modules in use, and the files that a reader looks for", async () => {
  const files = [...(await publishedFiles()).keys()];
  const used = new Set<string>();
  for (const entry of Object.values(manifest.exports)) {
    const { stdout } = await run(Deno.execPath(), ["info", "--json", entry], ROOT);
    const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
    for (const { specifier } of modules) used.add(specifier.slice(ROOT.href.length - 1));
  }
  assertEquals(files.filter((path) => path.endsWith(".ts")).sort(), [...used].sort());

  const readers = /^\/(README\.md|CHANGELOG\.md|LICENSE|deno\.json|schema\/\w+\.schema\.json)$/;
  assertEquals(files.filter((path) => !path.endsWith(".ts") && !readers.test(path)), []);
});

Deno.test("JSR: a file that differs from the published one is refused", async () => {
  await using registry = new JsrRegistry();
  const files = await registry.publish(".");
  using project = new Project();
  const content = files.get("/lib/base/duration.ts")!;
  // Replaces the file's last line feed with a space.
  registry.tampered.set(`/${manifest.name}/lib/base/duration.ts`, content.with(-1, " ".charCodeAt(0)));
  const { message } = await assertRejects(() => add(project, registry), Error);
  assertStringIncludes(message, "Integrity check failed");
  assertStringIncludes(message, "/lib/base/duration.ts");
});
