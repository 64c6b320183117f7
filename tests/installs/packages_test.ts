/** What holds for every package beside the core's that is published. Only on Deno, which publishes them. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { relativeLinks } from "../docs/markdown.ts";
import { manifest, Project, ROOT, run } from "./project.ts";

/** Which page of the core's each README leads to. */
const PAGES = {
  cli: "command.md",
  "config-file": "config.md",
  dashboard: "operate.md",
  opentelemetry: "operate.md",
  prometheus: "operate.md",
  redis: "redis.md",
};

for (const [name, page] of Object.entries(PAGES)) {
  const folder = new URL(`packages/${name}/`, ROOT);
  const { version, exports: entry } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", folder)));

  Deno.test(`${name}: every symbol is documented, and names no type that is not exported`, async () => {
    await run(Deno.execPath(), ["doc", "--lint", entry], folder);
  });

  Deno.test(`${name}: what is published is the modules that are used, and what a reader looks for`, async () => {
    const { stderr } = await run(Deno.execPath(), ["publish", "--dry-run", "--allow-dirty"], folder);
    const files = [...stderr.matchAll(/^ +(file:\S+) \(/gm)].map(([, url]) => url!);
    const { stdout } = await run(Deno.execPath(), ["info", "--json", entry], folder);
    const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
    const used = modules.map(({ specifier }) => specifier).filter((url) => url.startsWith(folder.href));
    assertEquals(files.sort(), [...used, `${folder}README.md`, `${folder}deno.json`].sort());

    const readme = await Deno.readTextFile(new URL("README.md", folder));
    assertEquals(relativeLinks(readme), []); // what is there is not published with it
    assertStringIncludes(readme, `https://jsr.io/${manifest.name}/${manifest.version}/docs/${page}`);
  });

  Deno.test(`${name}: it has the version of the core, so that one tag names both`, () => {
    assertEquals(version, manifest.version);
  });
}

Deno.test("packages: what is published on npm names the core and its peers, and no peer as a package of its own", async () => {
  using project = new Project();
  await run(Deno.execPath(), ["task", "pack", "packages/opentelemetry", project.path("package.tgz")], ROOT);
  const { dependencies, peerDependencies } = JSON.parse(
    await project.run("tar", ["-xzOf", "package.tgz", "package/package.json"]),
  );
  assertEquals(dependencies, { [manifest.name]: `^${manifest.version}` });
  assertEquals(Object.keys(peerDependencies), ["@opentelemetry/api"]);
});

Deno.test("packages: each that is published is looked at here", () => {
  const published = [...Deno.readDirSync(new URL("packages/", ROOT))].map(({ name }) => name)
    .filter((name) => JSON.parse(Deno.readTextFileSync(new URL(`packages/${name}/deno.json`, ROOT))).publish);
  assertEquals(published.sort(), Object.keys(PAGES).sort());
});
