/**
 * Tests of the command, installed on each runtime in the way that a user without a clone installs it. The tests run
 * only on Deno, which starts the other runtimes.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { compiled, installed, RUNTIMES } from "../../release/installed.ts";
import { packedToPublish } from "../../release/npm_registry.ts";
import { tokensOf } from "../docs/markdown.ts";
import { manifest, Project, ROOT, run } from "./project.ts";

/** Output and exit code of a command. */
interface End {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command in a folder, with input through a pipe. */
async function workqueue(command: string[], folder: string, args: string[], input = ""): Promise<End> {
  const child = new Deno.Command(command[0]!, {
    args: [...command.slice(1), ...args],
    cwd: folder,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // The command may end without reading its input.
  writer.write(new TextEncoder().encode(input)).then(() => writer.close()).catch(() => {});
  const { code, ...output } = await child.output();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: stdout!, stderr: stderr! };
}

const CONFIG = `
limiters:
  quick: { type: exponential, baseDelay: 1ms, maxDelay: 1ms }
queues:
  images: { limiter: quick, concurrency: 2, maxRetries: 2 }
`;

/** Shell command that succeeds on the third attempt for the item "later", and always fails for the item "never". */
const SCRIPT = 'echo "got $1"; case "$1" in later) [ $WORKQUEUE_ATTEMPT = 3 ];; never) exit 42;; esac';

/** Tests the installed command: version, retries, report and exit codes. */
async function tryCommand(command: string[]): Promise<void> {
  using project = new Project();
  const start = (args: string[], input?: string) => workqueue(command, project.folder, args, input);

  assertEquals(await start(["--version"]), { code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  const help = await start(["--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  assertMatch(help.stdout, /^Usage: workqueue /);

  Deno.writeTextFileSync(project.path("queues.yaml"), CONFIG);
  const shell = ["--", "sh", "-c", SCRIPT, "sh", "{}"];
  const all = ["run", "--config", "queues.yaml", "--report", "report.jsonl", ...shell];
  const failing = await start(all, "ok\nlater\nnever\nok\n");
  assertEquals(failing.code, 1, failing.stderr);
  const count = (item: string) => failing.stdout.split("\n").filter((line) => line === `got ${item}`).length;
  assertEquals(["ok", "later", "never"].map(count), [1, 3, 3]);
  const items = Deno.readTextFileSync(project.path("report.jsonl")).trimEnd().split("\n")
    .map((line) => JSON.parse(line)).filter(({ item }) => item !== undefined);
  assertEquals(
    Object.fromEntries(items.map(({ item, outcome, attempts, exitCode }) => [item, [outcome, attempts, exitCode]])),
    { ok: ["succeeded", 1, 0], later: ["succeeded", 3, 0], never: ["given-up", 3, 42] },
  );

  const succeeding = await start(["run", "--", "echo", "{}"], "a b\nc\n");
  assertEquals([succeeding.code, succeeding.stdout.split("\n").sort()], [0, ["", "a b", "c"]]);

  const missing = await start(["run", "--", "no-such-command"], "a\n");
  assertEquals([missing.code, missing.stdout], [2, ""]);
  assertStringIncludes(missing.stderr, "Cannot run 'no-such-command': there is no such command");
  Deno.writeTextFileSync(project.path("broken.yaml"), "queues: { images: { concurrency: none } }");
  const broken = await start(["run", "--config", "broken.yaml", ...shell], "a\n");
  assertEquals([broken.code, broken.stdout], [2, ""]);
  assertStringIncludes(broken.stderr, "/queues/images/concurrency");
  const checked = await start(["check", "queues.yaml", "broken.yaml"]);
  assertEquals([checked.code, checked.stderr], [1, ""]);
  assertMatch(
    checked.stdout,
    /^queues\.yaml: ok, 1 queue, 1 limiter\nbroken\.yaml:1:21: \/queues\/images\/concurrency: .*, got "none"\n$/,
  );

  // The plugin works in a folder from which the core can't be resolved.
  Deno.copyFileSync(new URL("examples/linear_plugin.mjs", ROOT), project.path("plugin.mjs"));
  Deno.copyFileSync(new URL("examples/linear.yaml", ROOT), project.path("linear.yaml"));
  const withPlugin = async (...args: string[]) => await start([...args, "--plugin", "plugin.mjs"]);
  const schema = await withPlugin("schema");
  assertEquals([schema.code, schema.stderr], [0, ""]);
  assertStringIncludes(JSON.stringify(JSON.parse(schema.stdout)), "Adds one step to the delay with each failure.");
  const delays = await withPlugin("delays", "linear.yaml", "--limiter", "polite", "--failures", "2");
  assertEquals([delays.code, delays.stderr], [0, ""]);
  assertEquals(delays.stdout.split("\n").slice(2, 4), ["      1   30 s     30 s", "      2  1 min  1.5 min"]);

  assertEquals((await start(["walk"])).code, 2);
}

const ignore = Deno.build.os === "windows"; // Windows has no `sh`

const nodes = new Map<number, Promise<string>>();

/** Returns the path of a version of Node, for which npx looks only once. */
function nodeOf(version: number): Promise<string> {
  const known = nodes.get(version) ??
    run("npx", ["-y", `node@${version}`, "-p", "process.execPath"], ROOT).then(({ stdout }) => stdout.trim());
  nodes.set(version, known);
  return known;
}

for (const runtime of RUNTIMES) {
  Deno.test({
    name: `cli: installed for ${runtime} from a registry, it runs, retries and reports`,
    ignore,
    fn: async () => await tryCommand(await installed(runtime)),
  });
}

Deno.test({
  name: "cli: installed for Node, it uses queues in files from Node 22 on, and on Node 20 says what to use",
  ignore,
  fn: async () => {
    using project = new Project();
    const [script] = await installed("Node");
    const start = async (version: number, args: string[], input?: string) =>
      await workqueue([await nodeOf(version), script!], project.folder, args, input);
    for (const command of ["push", "run"]) {
      const old = await start(20, [command, "--queue", "jobs.db", ...command === "run" ? ["true"] : []], "a\n");
      assertEquals([old.code, old.stdout], [2, ""]);
      assertMatch(old.stderr, /jobs\.db: this runtime has no node:sqlite\. Use Deno, Bun, or Node 22\.13 or later\n$/);
    }
    assertEquals([...Deno.readDirSync(project.folder)], []);
    // Nothing but what the command prints itself: no warning that SQLite is experimental.
    const pushed = await start(22, ["push", "--queue", "jobs.db", "--quiet"], "a\nb\n");
    assertEquals(pushed, { code: 0, stdout: "", stderr: "" });
    const ran = await start(22, ["run", "--queue", "jobs.db", "--quiet", "-j1", "--", "echo", "did"], "c\n");
    assertEquals(ran, { code: 0, stdout: "did a\ndid b\ndid c\n", stderr: "" });
    const { stdout } = await start(22, ["status", "--queue", "jobs.db"]);
    assertMatch(stdout, /^Queue +default\nFile +jobs\.db\nReady +0\n/);
  },
});

/** Substitutes for the programs that the README's examples run. */
const STUBS: Record<string, string> = {
  curl: 'echo "curl $*"',
  gzip: 'echo "gzip $*"',
  notify: 'echo "notify $*"',
  tail: 'printf "first\\nsecond\\n"', // ends without a signal, unlike `tail -f`
};

Deno.test({
  name: "cli: the examples of its README run as written",
  ignore,
  fn: async () => {
    using project = new Project();
    Deno.mkdirSync(project.path("bin"));
    for (const [name, script] of Object.entries(STUBS)) {
      Deno.writeTextFileSync(project.path(`bin/${name}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    Deno.symlinkSync((await installed("Node"))[0]!, project.path("bin/workqueue"));
    Deno.symlinkSync(await nodeOf(22), project.path("bin/node")); // which has SQLite
    const readme = await Deno.readTextFile(new URL("packages/cli/README.md", ROOT));
    const blocksOf = (language: string) => {
      return tokensOf(readme).flatMap((token) => token.type === "code" && token.lang === language ? [token.text] : []);
    };
    const [config] = blocksOf("yaml");
    Deno.writeTextFileSync(project.path("queues.yaml"), config!);
    Deno.writeTextFileSync(project.path("urls.txt"), "https://example.com/a\nhttps://example.com/b\n");

    for (const file of ["a.log", "b.log"]) Deno.writeTextFileSync(project.path(file), "");
    Deno.writeTextFileSync(project.path("hosts.txt"), "x\ny\n");
    for (const file of ["fetch.sh", "check-host"]) {
      Deno.writeTextFileSync(project.path(file), `#!/bin/sh\necho "${file} $*"\n`, { mode: 0o755 });
    }

    const examples = blocksOf("sh").filter((block) => block.includes("workqueue run"));
    const env = { PATH: `${project.path("bin")}:${Deno.env.get("PATH")}` };
    const printed = [];
    for (const example of examples) {
      const lines = (await project.run("sh", ["-ec", example], env)).trimEnd().split("\n");
      printed.push(lines.sort());
    }
    const downloads = ["curl -fsSO https://example.com/a", "curl -fsSO https://example.com/b"];
    const notices = ["notify first --attempt 1", "notify second --attempt 1"];
    const archives = ["gzip a.log", "gzip b.log"];
    const pages = ["fetch.sh https://example.com/a 1.html", "fetch.sh https://example.com/b 2.html"];
    const checks = ["check-host x", "check-host y"];
    const inFile = downloads;
    assertEquals(printed, [downloads, downloads, archives, pages, notices, checks, downloads, inFile]);
  },
});

/**
 * URL of the executable to which `deno compile` appends the modules, unless `DENORT_BIN` specifies another executable.
 */
const DENORT = `https://dl.deno.land/release/v${Deno.version.deno}/denort-${Deno.build.target}.zip`;

async function canCompile(): Promise<boolean> {
  if (Deno.env.has("DENORT_BIN")) return true;
  const signal = AbortSignal.timeout(10_000);
  return await fetch(DENORT, { method: "HEAD", signal }).then(({ ok }) => ok, () => false);
}

Deno.test({
  name: "cli: compiled into a single file, it does the same without other files",
  ignore,
  fn: async () => {
    if (await canCompile()) await tryCommand(await compiled());
    else console.log(`Left out, as there is no ${DENORT}, and DENORT_BIN is not set.`);
  },
});

const CONFIG_FILE_MANIFEST = new URL("packages/config-file/package.json", ROOT);

/** Most modules that Node may load for a run of one item. Each module takes time to load. */
const MOST_MODULES = 40;

/** Code that Node runs before the program. Each module that Node then loads is listed on standard error. */
const LIST_MODULES = `import { register } from "node:module";
  register("data:text/javascript,export const load = (url, context, next) => {" +
    "process._rawDebug('loaded ' + url); return next(url, context) }");`;

Deno.test({
  name: "cli: a run on Node loads few modules, and neither the dashboard nor the parsers of configs",
  ignore,
  fn: async () => {
    using project = new Project();
    Deno.writeTextFileSync(project.path("list.mjs"), LIST_MODULES);
    const command = ["env", `NODE_OPTIONS=--import=${project.path("list.mjs")}`, ...await installed("Node")];
    const { code, stdout, stderr } = await workqueue(command, project.folder, ["run", "--", "echo"], "a\n");
    assertEquals([code, stdout], [0, "a\n"], stderr);
    const loaded = [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url]) => url!);
    assert(loaded.some((url) => url.endsWith("/workqueue.js")), stderr);
    assert(loaded.length <= MOST_MODULES, `${loaded.length} modules:\n${loaded.join("\n")}`);
    assertEquals(loaded.filter((url) => /dashboard|hono|yaml|toml|jsonc|plugins|live_progress/.test(url)), []);
  },
});

Deno.test({
  name: "cli: the npm package contains modules, their types, the README and nothing else",
  ignore,
  fn: async () => {
    using project = new Project();
    const tarball = `${await packedToPublish("packages/cli")}/package.tgz`;
    await project.run("tar", ["-xzf", tarball]);
    const { version, bin, engines, dependencies } = JSON.parse(
      Deno.readTextFileSync(project.path("package/package.json")),
    );
    assertEquals([version, bin, engines], [manifest.version, { workqueue: "workqueue.js" }, { node: ">=20" }]);
    assertEquals(Object.keys(dependencies).filter((name) => name.startsWith("@workqueue/")), []);
    assertEquals(dependencies.yaml, JSON.parse(Deno.readTextFileSync(CONFIG_FILE_MANIFEST)).dependencies.yaml);

    const files = (await project.run("tar", ["-tzf", tarball])).trimEnd().split("\n");
    const others = files.filter((file) => !/\.(js|d\.ts)$/.test(file)).sort();
    assertEquals(others, ["package/README.md", "package/package.json"]);
    assert(!files.some((file) => file.startsWith("package/demo")));

    const path = project.path("package/workqueue.js");
    assertMatch(Deno.readTextFileSync(path), /^#!\/usr\/bin\/env node\n/);
    assertEquals(Deno.statSync(path).mode! & 0o111, 0o111);
  },
});
