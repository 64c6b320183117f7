/** Tests of every published package except the core. The tests run only on Deno, which publishes the packages. */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { JsrRegistry } from "../../release/jsr_registry.ts";
import { NpmRegistry } from "../../release/npm_registry.ts";
import { entriesOf } from "../../release/entries.ts";
import { relativeLinks } from "../docs/markdown.ts";
import { EVERY, everyTest } from "../every.ts";
import { manifest, Project, ROOT, run } from "./project.ts";

/** For each package, the page of the core's docs that its README links to. */
const PAGES = {
  cli: "command.md",
  "config-file": "config.md",
  dashboard: "operate.md",
  engine: "engines.md",
  kubernetes: "controller.md",
  opentelemetry: "operate/metrics.md",
  prometheus: "operate/metrics.md",
  redis: "redis.md",
  simulate: "simulate.md",
  sqlite: "sqlite.md",
};

const registry = new JsrRegistry();
globalThis.addEventListener("unload", () => void registry[Symbol.asyncDispose]());

for (const [name, page] of Object.entries(PAGES)) {
  const folder = new URL(`packages/${name}/`, ROOT);
  const { version, exports } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", folder)));
  const entries = Object.values(entriesOf(exports));

  Deno.test(`${name}: every symbol is documented, and names no type that is not exported`, async () => {
    await run(Deno.execPath(), ["doc", "--lint", ...entries], folder);
  });

  Deno.test(`${name}: the published package contains the modules in use, and the files that a reader looks for`, async () => {
    const { stderr } = await run(Deno.execPath(), ["publish", "--dry-run", "--no-check", "--allow-dirty"], folder);
    const files = [...stderr.matchAll(/^ +(file:\S+) \(/gm)].map(([, url]) => url!);
    const used = new Set<string>();
    for (const entry of entries) {
      const { stdout } = await run(Deno.execPath(), ["info", "--json", entry], folder);
      const { modules } = JSON.parse(stdout) as { modules: { specifier: string }[] };
      for (const { specifier } of modules) if (specifier.startsWith(folder.href)) used.add(specifier);
    }
    assertEquals(files.sort(), [...used, `${folder}README.md`, `${folder}deno.json`].sort());

    const readme = await Deno.readTextFile(new URL("README.md", folder));
    assertStringIncludes(readme, `](../../docs/${page}`);
  });

  Deno.test(`${name}: the JSR package requires exactly its own version of the packages of this repository`, async () => {
    const files = await registry.publish(`packages/${name}`);
    const relative = relativeLinks(new TextDecoder().decode(files.get("/README.md")));
    assertEquals(relative.filter((href) => !href.startsWith("#")), []); // JSR would resolve them against the root
    const required = [...files.values()].flatMap((content) =>
      [...new TextDecoder().decode(content).matchAll(/(?:from|import) "jsr:@workqueue\/[\w-]+@([^/"]+)/g)].map((
        [, version],
      ) => version)
    );
    assertEquals([...new Set(required)], [version]);
  });

  Deno.test(`${name}: it has the version of the core, so that one tag names both`, () => {
    assertEquals(version, manifest.version);
  });
}

everyTest("packages: each of them can be published with npm", async () => {
  await using npm = new NpmRegistry();
  for (const name of [".", ...Object.keys(PAGES).map((name) => `packages/${name}`)]) await npm.publish(name);
});

Deno.test("packages: the npm package depends on the core, and lists its peers only as peers", async () => {
  using project = new Project();
  await run(Deno.execPath(), ["task", "pack", "packages/opentelemetry", project.path("package.tgz")], ROOT);
  const { dependencies, peerDependencies } = JSON.parse(
    await project.run("tar", ["-xzOf", "package.tgz", "package/package.json"]),
  );
  assertEquals(dependencies, { [manifest.name]: manifest.version });
  assertEquals(Object.keys(peerDependencies), ["@opentelemetry/api"]);
});

Deno.test("packages: with packages packed in a clone, npm and Bun ask no registry for a package of this repository", async () => {
  using project = new Project();
  await project.pack(...EVERY ? [] : ["packages/redis"]);
  const names = EVERY ? Object.keys(PAGES) : ["engine", "redis"];
  const tarballs = ["core", ...names].map((name) => `workqueue-${name}.tgz`).sort();
  assertEquals([...Deno.readDirSync(project.folder)].map(({ name }) => name).sort(), tarballs);
  for (const tarball of tarballs) {
    const packed = JSON.parse(await project.run("tar", ["-xzOf", tarball, "package/package.json"]));
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packed;
    const isOurs = (name: string) => name.startsWith("@workqueue/");
    assertEquals(Object.keys(dependencies).filter(isOurs), [], tarball);
    const peers = Object.keys(peerDependencies).filter(isOurs);
    const isWhole = ["workqueue-core.tgz", "workqueue-cli.tgz"].includes(tarball); // the command contains the others
    assertEquals(peers.includes(manifest.name), !isWhole, tarball);
    for (const peer of peers) {
      assertEquals([peerDependencies[peer], peerDependenciesMeta[peer]], [manifest.version, { optional: true }]);
    }
    assertEquals(Object.keys(peerDependenciesMeta), peers, "a peer that others publish is not optional");
  }
});

Deno.test("packages: packing writes the package and its dependencies to the current folder, and says so", async () => {
  using project = new Project();
  const args = ["task", "--cwd", fileURLToPath(ROOT), "pack", "packages/config-file"];
  const printed = await project.run(Deno.execPath(), args, { INIT_CWD: project.folder });
  assertEquals(printed, "Wrote ./workqueue-core.tgz ./workqueue-config-file.tgz\n");
  const written = [...Deno.readDirSync(project.folder)].map(({ name }) => name).sort();
  assertEquals(written, ["workqueue-config-file.tgz", "workqueue-core.tgz"]);
});

const REFUSED: [args: string[], message: string][] = [
  [["packages/rediss"], "Cannot pack packages/rediss: not a package of this repository. Packages: ., packages/cli, "],
  [["a.tgz"], "Cannot pack: name one package with a FILE.tgz, or any number of packages without one"],
  [[".", "packages/cli", "a.tgz"], "Cannot pack: name one package with a FILE.tgz"],
];

for (const [args, message] of REFUSED) {
  Deno.test(`packages: packing ${args.join(" ")} reports the problem`, async () => {
    const error = await assertRejects(() => run(Deno.execPath(), ["task", "pack", ...args], ROOT), Error);
    assertStringIncludes(error.message, message);
  });
}

Deno.test("packages: each published package is tested here", () => {
  const published = [...Deno.readDirSync(new URL("packages/", ROOT))].map(({ name }) => name)
    .filter((name) => JSON.parse(Deno.readTextFileSync(new URL(`packages/${name}/deno.json`, ROOT))).publish);
  assertEquals(published.sort(), Object.keys(PAGES).sort());
});
