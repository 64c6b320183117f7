/**
 * Makes of a package the file that is published on npm, and that npm and Bun install:
 * `deno task pack packages/cli workqueue-cli.tgz`.
 *
 * `deno pack` makes the modules. To their `package.json` is added here what it leaves out: the packages of this
 * repository that are imported, and `bin`, `engines` and `peerDependencies` of the package's own `package.json`; where
 * GitHub releases it, the repository too, which npm compares with where the release says it comes from.
 *
 * @module
 */

import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { NPM, ROOT, run } from "./commands.ts";

/** What is read or written here of a `package.json`. */
interface Manifest {
  version: string;
  bin?: Record<string, string>;
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** What is read here of what `deno info` knows. */
interface Info {
  modules: { specifier: string; dependencies?: { specifier: string }[] }[];
}

function readJson<Value>(path: string): Value {
  return JSON.parse(Deno.readTextFileSync(path));
}

/** The packages of this repository that one of them imports, in the versions it needs. */
async function siblings(folder: string): Promise<Record<string, string>> {
  const { name, version, exports } = readJson<{ name: string; version: string; exports: string | object }>(
    join(folder, "deno.json"),
  );
  const entries: string[] = typeof exports === "string" ? [exports] : Object.values(exports);
  const scope = name.slice(0, name.indexOf("/") + 1);
  const names = new Set<string>();
  for (const entry of entries) {
    const { modules } = JSON.parse((await run(Deno.execPath(), ["info", "--json", entry], folder)).stdout) as Info;
    const own = modules.filter(({ specifier }) => specifier.startsWith(`${pathToFileURL(folder)}/`));
    for (const { specifier } of own.flatMap(({ dependencies = [] }) => dependencies)) {
      if (specifier.startsWith(scope)) names.add(specifier.split("/", 2).join("/"));
    }
  }
  return Object.fromEntries([...names].sort().map((sibling) => [sibling, `^${version}`]));
}

/** The `package.json` of what is published. */
function complete(packed: Manifest, own: Manifest | undefined, imported: Record<string, string>): Manifest {
  const { bin = {}, engines = {}, peerDependencies = {} } = own ?? {};
  const commands = Object.entries(bin).map(([name, file]) => [name, file.replace(/^\.\/|\.ts$/g, "") + ".js"]);
  const { dependencies: fromNpm, ...rest } = packed;
  const dependencies = Object.entries({ ...imported, ...fromNpm }).filter(([name]) => !(name in peerDependencies));
  const added = {
    repository: repositoryOnGitHub(),
    bin: Object.fromEntries(commands),
    engines,
    dependencies: Object.fromEntries(dependencies),
    peerDependencies,
  };
  return { ...rest, ...Object.fromEntries(Object.entries(added).filter(([, value]) => Object.keys(value).length > 0)) };
}

function repositoryOnGitHub(): Record<string, string> {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = Deno.env.toObject();
  return server !== undefined && path !== undefined ? { type: "git", url: `git+${server}/${path}.git` } : {};
}

const [target, file] = Deno.args;
if (target === undefined || file === undefined) {
  console.error("Say which package, and into which file: deno task pack packages/cli workqueue-cli.tgz");
  Deno.exit(2);
}
const folder = resolve(fileURLToPath(ROOT), target);
const scratch = Deno.makeTempDirSync({ prefix: "workqueue_pack_" });
try {
  const all = join(scratch, "all.tgz");
  // --quiet, as it lists every file whose types it leaves out because no entry mentions them.
  await run(Deno.execPath(), ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "--output", all], folder);
  await run("tar", ["-xzf", "all.tgz"], scratch);
  const path = join(scratch, "package", "package.json");
  const own = join(folder, "package.json");
  const hasOwn = await Deno.stat(own).then(() => true, () => false);
  const manifest = complete(readJson(path), hasOwn ? readJson(own) : undefined, await siblings(folder));
  Deno.writeTextFileSync(path, JSON.stringify(manifest, undefined, 2) + "\n");
  const { stdout } = await run(NPM, ["pack", "--silent", "./package"], scratch);
  Deno.copyFileSync(join(scratch, stdout.trim()), resolve(Deno.env.get("INIT_CWD") ?? ".", file));
} finally {
  Deno.removeSync(scratch, { recursive: true });
}
