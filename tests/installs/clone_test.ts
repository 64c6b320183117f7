/**
 * Tests of the commands that the pages give for installing packages from a clone. The tests run only on Deno, which
 * packs the clone.
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Tokens } from "marked";
import { globSync } from "node:fs";
import { copyRepository } from "../../release/copy.ts";
import { tokensOf } from "../docs/markdown.ts";
import { runtimes } from "../runtimes.ts";
import { EVERY } from "../every.ts";
import { manifest, Project, ROOT, run } from "./project.ts";

const IGNORE = Deno.build.os === "windows"; // Windows has no `sh`

/** Returns the code blocks in one part of a page. */
function blocksIn(path: string, from = "", to?: string): Tokens.Code[] {
  const page = Deno.readTextFileSync(new URL(path, ROOT));
  const start = page.indexOf(from);
  const section = page.slice(start, to === undefined ? undefined : page.indexOf(to, start));
  return tokensOf(section).filter((token): token is Tokens.Code => token.type === "code");
}

/** Instructions on a page for installing one package from a clone. */
interface Instructions {
  name: string;
  denoJson: string;
  /** Line that packs the package. `Bun` and `Node` are the lines that install the package. */
  pack: string;
  Bun: string;
  Node: string;
}

/** Reads the instructions from a page, in the page's order. */
function instructionsOf(path: string, from?: string, to?: string): Instructions[] {
  const blocks = blocksIn(path, from, to);
  const configs = blocks.filter(({ lang, text }) => lang === "json" && "imports" in JSON.parse(text));
  const commands = blocks.filter(({ text }) => text.includes(" pack "));
  assertEquals(configs.length, commands.length, path);
  return commands.map(({ text }, i) => {
    const denoJson = configs[i]!.text;
    const name = Object.keys(JSON.parse(denoJson).imports).findLast((name) => name.startsWith("@workqueue/"))!;
    const [pack, ...installs] = text.split("\n");
    assertEquals(installs.length, 2, text);
    const lineFor = (runtime: string) => installs.find((line) => line.includes(`# ${runtime}`))!;
    return { name, denoJson, pack: pack!, Bun: lineFor("Bun"), Node: lineFor("Node") };
  });
}

const READMES = ["config-file", "dashboard", "kubernetes", "opentelemetry", "prometheus", "redis"];

const PAGES: Record<string, Instructions[]> = {
  "README.md": instructionsOf("README.md", "\n## Install", "\n## Handlers"),
  "docs/redis.md": instructionsOf("docs/redis.md"),
};
for (const name of READMES) PAGES[`packages/${name}/README.md`] = instructionsOf(`packages/${name}/README.md`);

const [core] = PAGES["README.md"] as [Instructions];
const [prometheus] = PAGES["packages/prometheus/README.md"] as [Instructions];
const [redis] = PAGES["docs/redis.md"] as [Instructions];

/** For each package, a program and the output that the program must print. */
const PROGRAMS: Record<string, [program: string, printed: string]> = {
  "@workqueue/core": [
    `import { createWorkQueue } from "@workqueue/core";
     const queue = createWorkQueue();
     for (const item of ["a", "b", "a"]) queue.add(item);
     console.log(queue.length, "items");`,
    "2 items\n",
  ],
  "@workqueue/config-file": [
    `import { loadConfig } from "@workqueue/core";
     import { loadConfigText } from "@workqueue/config-file";
     const texts = { yaml: "queues: { images: {} }", toml: "[queues.images]", json: '{ "queues": { "images": {} } }' };
     console.log(Object.entries(texts).map(([format, text]) => loadConfigText(text, format).queueNames).join());
     loadConfig({});`,
    "images,images,images\n",
  ],
  "@workqueue/dashboard": [
    `import { createDefaultItemLimiter, createRateLimitingQueue } from "@workqueue/core";
     import { allowLocal, createDashboard } from "@workqueue/dashboard";
     const queue = createRateLimitingQueue(createDefaultItemLimiter());
     const dashboard = createDashboard({ queues: { images: { queue } }, view: allowLocal });
     const info = { remoteAddr: { hostname: "127.0.0.1" } };
     console.log((await dashboard.fetch(new Request("http://localhost:4680/"), info)).status);
     dashboard[Symbol.dispose]();`,
    "200\n",
  ],
  "@workqueue/kubernetes": [
    `import { Manager } from "@workqueue/kubernetes";
     import { fakeCluster } from "@workqueue/kubernetes/testing";
     const manager = new Manager({ name: "test", client: fakeCluster().client });
     const stop = new AbortController();
     const namespaces = manager.cache("v1", "Namespace", { fieldSelector: "metadata.name=default" });
     manager.control(namespaces, { reconcile: async ({ metadata }) => (console.log(metadata.name), stop.abort()) });
     await manager.run(stop.signal);`,
    "default\n",
  ],
  "@workqueue/opentelemetry": [
    `import { metrics } from "@opentelemetry/api";
     import { createWorkQueue } from "@workqueue/core";
     import { openTelemetryMetrics } from "@workqueue/opentelemetry";
     const queue = createWorkQueue({ name: "images", metrics: openTelemetryMetrics(metrics.getMeter("workqueue")) });
     queue.add("cat.jpg");
     console.log(queue.length);`,
    "1\n",
  ],
  "@workqueue/prometheus": [
    `import { createWorkQueue } from "@workqueue/core";
     import { prometheusMetrics } from "@workqueue/prometheus";
     import { register } from "prom-client";
     createWorkQueue({ name: "images", metrics: prometheusMetrics() }).add("cat.jpg");
     console.log((await register.metrics()).match(/^workqueue_depth.*$/m)[0]);`,
    'workqueue_depth{name="images"} 1\n',
  ],
  "@workqueue/redis": [
    `import { createRedisQueue } from "@workqueue/redis";
     console.log(createRedisQueue({ name: "images" }).name);`,
    "images\n",
  ],
};

/** Packages of this repository that a package needs in addition to the core. */
const DEPENDENCIES: Record<string, readonly string[]> = { "@workqueue/redis": ["@workqueue/engine"] };

/** Empty registry for `@workqueue` that records its requests. */
class EmptyRegistry implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    this.asked.push(decodeURIComponent(new URL(request.url).pathname));
    return Response.json({ error: "Not found" }, { status: 404 });
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/**
 * Folder with the clone, which the tests share. Sharing saves time, because packing is faster once Deno has cached the
 * clone's files.
 */
const shared = new Project();
globalThis.addEventListener("unload", () => shared[Symbol.dispose]());
copyRepository(shared.path("workqueue"));
let apps = 0;

/** Empty folders next to a clone named `workqueue`, and a shell that uses an empty registry for `@workqueue`. */
class Folder extends Project implements AsyncDisposable {
  readonly registry = new EmptyRegistry();
  readonly clone = shared.path("workqueue");
  readonly app = this.newApp();

  async [Symbol.asyncDispose](): Promise<void> {
    await this.registry[Symbol.asyncDispose]();
    this[Symbol.dispose]();
  }

  newApp(): string {
    const app = shared.path(`app-${++apps}`);
    Deno.mkdirSync(app);
    return app;
  }

  /** Runs a line from a page in a new shell. Returns all output of the line. */
  async shell(line: string, cwd = this.app, env: Record<string, string> = {}): Promise<string> {
    const environment = { ...await this.#environment(), ...env };
    const { stdout, stderr } = await run("env", ["-u", "INIT_CWD", "sh", "-ec", line], cwd, environment);
    return stdout + stderr;
  }

  /** Runs a program in a folder. Returns the program's output. */
  async use(command: string[], program: string, cwd = this.app): Promise<string> {
    await Deno.writeTextFile(`${cwd}/main.mjs`, program);
    const { stdout, stderr } = await run(command[0]!, [...command.slice(1), "main.mjs"], cwd);
    assert(!stderr.includes("Warning"), stderr); // Deno warns, for example, about a linked folder that is not a package
    return stdout;
  }

  /**
   * Creates the environment of the shell. `deno` and `bun` are on the PATH, and npm and Bun use the empty registry for
   * `@workqueue`.
   */
  async #environment(): Promise<Record<string, string>> {
    const bin = this.path("bin");
    const npmrc = this.path("npmrc");
    if (!(await Deno.stat(bin).then(() => true, () => false))) {
      await Deno.mkdir(bin);
      await Deno.symlink((await runtimes["Bun"]!())[0]!, `${bin}/bun`);
      await Deno.symlink(Deno.execPath(), `${bin}/deno`);
      const own = Deno.env.get("NPM_CONFIG_USERCONFIG") ?? `${Deno.env.get("HOME")}/.npmrc`;
      const settings = await Deno.readTextFile(own).catch(() => "");
      await Deno.writeTextFile(npmrc, `${settings}\n@workqueue:registry=${this.registry.url}\n`);
      const scope = `[install.scopes]\n"@workqueue" = "${this.registry.url}"\n`;
      await Deno.writeTextFile(this.path(".bunfig.toml"), scope);
    }
    const path = `${bin}:${Deno.env.get("PATH")}`;
    return { PATH: path, NPM_CONFIG_USERCONFIG: npmrc, XDG_CONFIG_HOME: this.folder };
  }
}

const packed = new Map<string, Promise<string>>();

/**
 * Runs each packing line only once, even if several pages contain it. Returns the folder that contains the tarballs.
 */
async function packedBy(line: string, folder: Folder): Promise<string> {
  if (!packed.has(line)) packed.set(line, folder.shell(line).then((printed) => (assertCalm(printed), folder.app)));
  return await packed.get(line)!;
}

/** Returns the folders, at any depth of an app's `node_modules`, in which packages of this repository are installed. */
function installedIn(app: string): string[] {
  const found = globSync("node_modules/**/@workqueue/*/package.json", { cwd: app });
  return found.map((path) => path.split(/[\\/]/).slice(1, -1).join("/")).sort();
}

function copyTarballs(from: string, to: string): void {
  for (const { name } of Deno.readDirSync(from)) {
    if (name.endsWith(".tgz")) Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Returns the commands that start a program on Node and on Bun, the runtimes that install tarballs. */
async function startCommands(): Promise<["Node" | "Bun", string][]> {
  return [["Node", "node"], ["Bun", (await runtimes["Bun"]!())[0]!]];
}

/** Throws if npm or Bun printed a warning or an error. */
function assertCalm(printed: string): void {
  // npm's own warnings are ignored, because they are about the settings of the machine.
  const lines = printed.split("\n").filter((line) => !line.startsWith("npm "));
  assert(!/could not|cannot|error|warn/i.test(lines.join("\n")), printed);
}

Deno.test("a clone: Deno uses it through an entry in deno.json, without network", async () => {
  await using folder = new Folder();
  const [program, printed] = PROGRAMS[manifest.name]!;
  await Deno.writeTextFile(`${folder.app}/deno.json`, core.denoJson);
  const flags = ["--check", "--no-prompt", "--cached-only"];
  assertEquals(await folder.use([Deno.execPath(), "run", ...flags], program), printed);
});

Deno.test("a clone: the README describes the core, and the other pages describe their packages", () => {
  const named = Object.entries(PAGES).map(([path, all]) => [path, all.map(({ name }) => name)]);
  assertEquals(Object.fromEntries(named), {
    "README.md": [manifest.name],
    "docs/redis.md": ["@workqueue/redis"],
    ...Object.fromEntries(READMES.map((name) => [`packages/${name}/README.md`, [`@workqueue/${name}`]])),
  });
});

/** Page whose instructions `deno task ok` follows. */
const FOLLOWED = "README.md";

for (const [path, instructions] of Object.entries(PAGES)) {
  const isLeftOut = !EVERY && path !== FOLLOWED;
  for (const { name, denoJson, pack, ...installs } of instructions) {
    const [program, printed] = PROGRAMS[name]!;

    if (name !== manifest.name) {
      Deno.test({
        name: `a clone: Deno uses ${name} through links, as ${path} says`,
        ignore: isLeftOut,
        fn: async () => {
          await using folder = new Folder();
          await Deno.writeTextFile(`${folder.app}/deno.json`, denoJson);
          const flags = ["--check", "--allow-env", "--no-prompt"];
          assertEquals(await folder.use([Deno.execPath(), "run", ...flags], program), printed);
        },
      });
    }

    Deno.test({
      name: `a clone: Bun and Node install ${name} as ${path} says, without alarming output`,
      ignore: IGNORE || isLeftOut,
      fn: async () => {
        await using folder = new Folder();
        const tarballs = await packedBy(pack, folder);
        for (const [runtime, start] of await startCommands()) {
          const app = folder.newApp();
          copyTarballs(tarballs, app);
          assertCalm(await folder.shell(installs[runtime], app));
          assertEquals(await folder.use([start], program, app), printed);
          assertEquals(installedIn(app), [...new Set([manifest.name, ...DEPENDENCIES[name] ?? [], name])].sort());
        }
        assertEquals(folder.registry.asked, []);
      },
    });
  }
}

/** Commands that reinstall the packages from the lock file. */
const AGAIN = {
  Node: "rm -r node_modules && npm ci",
  Bun: "rm -r node_modules && bun install --frozen-lockfile",
};

for (const pages of [[core, redis], [prometheus, redis], [redis, prometheus]] as const) {
  const names = pages.map(({ name }) => name);
  Deno.test({
    name: `a clone: ${names.join(" and then ")} are installed into one folder without a registry`,
    ignore: IGNORE || !EVERY,
    fn: async () => {
      await using folder = new Folder();
      for (const [runtime, start] of await startCommands()) {
        const app = folder.newApp();
        for (const page of pages) {
          copyTarballs(await packedBy(page.pack, folder), app);
          await folder.shell(page[runtime], app);
        }
        for (const line of ["true", AGAIN[runtime]]) {
          await folder.shell(line, app);
          const dependencies = names.flatMap((name) => DEPENDENCIES[name] ?? []);
          assertEquals(installedIn(app), [...new Set([manifest.name, ...dependencies, ...names])].sort());
          for (const [program, printed] of names.map((name) => PROGRAMS[name]!)) {
            assertEquals(await folder.use([start], program, app), printed);
          }
        }
      }
      assertEquals(folder.registry.asked, []);
    },
  });
}

Deno.test({
  name: "a clone: a missing package is requested from the registry of these tests, so the tests would notice it",
  ignore: IGNORE,
  fn: async () => {
    await using folder = new Folder();
    const dependencies = { [manifest.name]: manifest.version, "@workqueue/engine": manifest.version };
    const published = { name: "@workqueue/redis", version: manifest.version, dependencies };
    Deno.mkdirSync(`${folder.app}/package`);
    await Deno.writeTextFile(`${folder.app}/package/package.json`, JSON.stringify(published));
    await folder.shell("tar -czf published.tgz package");
    for (const line of ["npm install ./published.tgz", "bun add ./published.tgz"]) {
      folder.registry.asked.length = 0;
      await assertRejects(() => folder.shell(line), Error);
      const needed = Object.keys(dependencies).map((name) => `/${name}`);
      const { asked } = folder.registry;
      assert(asked.length > 0 && asked.every((name) => needed.includes(name)), `${line}: ${asked}`);
    }
  },
});

Deno.test({
  name: "a clone: a mistake in the clone is printed, and nothing is packed",
  ignore: IGNORE,
  fn: async () => {
    await using folder = new Folder();
    const path = `${folder.clone}/mod.ts`;
    const before = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, "export const n: number = '';\n");
    const env = { WORKQUEUE_PACKED: folder.folder }; // not the package that another test has packed before
    const error = await folder.shell(core.pack, folder.app, env).then(() => undefined, (error: unknown) => error);
    await Deno.writeTextFile(path, before); // the clone is shared
    assert(error instanceof Error && error.message.includes("is not assignable to type 'number'"), `${error}`);
    assertEquals([...Deno.readDirSync(folder.app)], []);
  },
});

/** Returns a page's instructions for the command: the code blocks before "Once published". */
function commandBlocks(path: string, from: string): string[] {
  return blocksIn(path, from, "Once published").map(({ text }) => text);
}

const [tryIt, installIt] = commandBlocks("docs/command.md", "\n## Install") as [string, string];

Deno.test("a clone: both pages about the command install it with the same lines", () => {
  assertEquals(commandBlocks("packages/cli/README.md", "Not published yet"), [installIt]);
});

const CONFIGS = {
  "queues.json": '{ "queues": { "images": { "concurrency": 2 } } }',
  "queues.yaml": "queues: { images: { concurrency: 2 } }",
  "queues.toml": "[queues.images]\nconcurrency = 2\n",
};

/** For each runtime, strings that occur only in the lines for installing the command. */
const COMMAND_LINES: Record<string, string[]> = {
  Deno: ["# Deno"],
  Node: ["deno task pack", "# Node"],
  Bun: ["deno task pack", "# Bun"],
};

/** Lines that pack the command in the shared clone. Each line runs once, because the tarball stays there. */
const packedInClone = new Set<string>();

for (const [runtime, marks] of Object.entries(COMMAND_LINES)) {
  Deno.test({
    name: `a clone: the command installs for ${runtime} as docs/command.md says, and runs in any folder`,
    ignore: IGNORE || (!EVERY && runtime === "Bun"),
    fn: async () => {
      await using folder = new Folder();
      const root = folder.newApp();
      const env = { DENO_INSTALL_ROOT: root, NPM_CONFIG_PREFIX: root, BUN_INSTALL: root };
      for (const mark of marks) {
        const lines = installIt.split("\n").filter((line) => line.includes(mark));
        assertEquals(lines.length, 1, mark);
        const [line] = lines as [string];
        if (!packedInClone.has(line)) await folder.shell(line, folder.clone, env);
        if (mark === "deno task pack") packedInClone.add(line);
      }
      assertEquals(folder.registry.asked, []);

      for (const [file, text] of Object.entries(CONFIGS)) await Deno.writeTextFile(`${folder.app}/${file}`, text);
      await Deno.writeTextFile(`${folder.app}/deno.json`, '{ "imports": { "@workqueue/core": "./none.ts" } }');
      const workqueue = (args: string) => folder.shell(`${root}/bin/workqueue ${args}`);
      assertEquals(await workqueue("--version"), `${manifest.version}\n`);
      const ok = Object.keys(CONFIGS).map((file) => `${file}: ok, 1 queue\n`).join("");
      assertEquals(await workqueue(`check ${Object.keys(CONFIGS).join(" ")}`), ok);
      assertMatch(await workqueue("run --config queues.yaml --input queues.toml -- echo"), /^concurrency = 2$/m);
      assertMatch(await workqueue("run --quiet --serve --input queues.toml -- echo"), /^concurrency = 2$/m);
    },
  });
}

Deno.test({
  name: "a clone: the command runs without an installation, as docs/command.md says",
  ignore: IGNORE,
  fn: async () => {
    await using folder = new Folder();
    await folder.shell("true"); // the first shell creates the folder `bin`
    await Deno.writeTextFile(folder.path("bin/curl"), '#!/bin/sh\necho "curl $*"\n', { mode: 0o755 });
    await Deno.writeTextFile(`${folder.clone}/urls.txt`, "https://example.com/a\n");
    assertMatch(await folder.shell(tryIt, folder.clone), /^curl -fsSO https:\/\/example\.com\/a$/m);
  },
});
