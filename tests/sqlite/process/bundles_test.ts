/** Tests of the option `thread` in bundled programs. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { build, stop } from "esbuild";
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ALL_PACKAGES, allRuntimes } from "../../runtimes.ts";
import { Folder } from "../files.ts";

const FILES = ["bundled", "bundled_thread"].map((name) => fileURLToPath(new URL(`${name}.ts`, import.meta.url)));
const ROOT = dirname(ALL_PACKAGES);
const REMEDY = "'thread' must be the URL of a second file that calls `serveThread` of @workqueue/sqlite/thread";
/** Maximum time of a process, in case it starts itself again and again, in milliseconds. */
const DEADLINE = 20_000;

/** Bundles the program and its second file into a folder. Returns the start of the command line of the program. */
type Bundler = (folder: string) => Promise<string[]>;

function esbuildFor(runtime: string, format: "esm" | "cjs", splitting = false): Bundler {
  return async (outdir) => {
    const extension = format === "esm" ? ".mjs" : ".cjs";
    const options = { bundle: true, platform: "node", target: "node22", minify: true, logLevel: "error" } as const;
    await build({
      ...options,
      format,
      splitting,
      entryPoints: FILES,
      outdir,
      outExtension: { ".js": extension },
      tsconfig: join(ROOT, "tsconfig.json"),
    });
    await stop();
    return [...await commandOf(runtime), join(outdir, `bundled${extension}`)];
  };
}

/** Returns the start of a command line that runs a script without the settings of the repository. */
async function commandOf(runtime: string): Promise<string[]> {
  const [program] = await allRuntimes[runtime]!();
  return runtime === "Deno" ? [program!, "run", "-A", "--no-config"] : [program!];
}

function run([program, ...args]: readonly string[], variables: Record<string, string> = {}): string {
  const env = { ...process.env, ...variables };
  const { status, stdout, stderr } = spawnSync(program!, args, { cwd: ROOT, env, encoding: "utf8", timeout: DEADLINE });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}${stdout}`);
  return stdout;
}

const bundlers: Readonly<Record<string, Bundler>> = {
  "esbuild, for Bun": esbuildFor("Bun", "esm"),
  "deno bundle": async (folder) => {
    const config = ["--quiet", "--config", ALL_PACKAGES, "--platform", "deno"];
    run([Deno.execPath(), "bundle", ...config, "--outdir", folder, ...FILES]);
    return [...await commandOf("Deno"), join(folder, "bundled.js")];
  },
  "bun build": async (folder) => {
    const bun = await commandOf("Bun");
    run([...bun, "build", "--target=bun", "--outdir", folder, ...FILES]);
    return [...bun, join(folder, "bundled.js")];
  },
  "bun build --compile": async (folder) => {
    run([...await commandOf("Bun"), "build", "--compile", "--outfile", join(folder, "program"), ...FILES]);
    return [join(folder, "program")];
  },
  ...allRuntimes["Node"] && {
    "esbuild, for Node": esbuildFor("Node", "esm"),
    "esbuild, for Node, CommonJS": esbuildFor("Node", "cjs"),
    "esbuild, for Node, in several files": esbuildFor("Node", "esm", true),
  },
};

/** Returns the lines that the program prints, however often it starts. */
function linesOf(command: readonly string[], folder: Folder, thread: string): string[] {
  return run(command, { QUEUE: folder.path, THREAD: thread }).trimEnd().split("\n");
}

for (const [name, bundle] of Object.entries(bundlers)) {
  Deno.test(`SQLite, in a thread: ${name}: the program starts once, and says to bundle a second file`, async () => {
    using folder = new Folder();
    const command = await bundle(dirname(folder.path));
    const [program] = command.slice(-1).map((path) => path.slice(path.lastIndexOf("/") + 1));
    const refused = (why: string) => ["started", `Cannot start thread: ${why}: ${REMEDY}`];
    assertEquals(linesOf(command, folder, "true"), refused("this program is bundled"));
    assertEquals(linesOf(command, folder, program!), refused("'thread' is the URL of this program"));
    const extension = /\.\w+$/.exec(program!)?.[0] ?? ".js";
    assertEquals(linesOf(command, folder, `bundled_thread${extension}`), ["started", "worked on a"]);
  });
}

Deno.test("SQLite, in a thread: a file that starts the program again ends there, before it opens a queue", async () => {
  using folder = new Folder();
  const command = await bundlers["deno bundle"]!(dirname(folder.path));
  copyFileSync(command.at(-1)!, join(dirname(folder.path), "again.js"));
  const [first, second, ...errors] = linesOf(command, folder, "again.js");
  assertEquals([first, second], ["started", "started"]);
  assertStringIncludes(errors[0]!, `Cannot start thread: a thread started this program again: ${REMEDY}`);
});
