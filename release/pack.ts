/**
 * Creates the tarballs that npm and Bun install.
 *
 * ```sh
 * npx -y deno task pack packages/redis              # this package and those it needs, to install from a clone
 * npx -y deno task pack                             # every package
 * npx -y deno task pack packages/redis package.tgz  # only this package, as published on npm
 * ```
 *
 * The task writes files with names such as `workqueue-redis.tgz` to the folder in which the task is started.
 *
 * `deno pack` creates the modules and a `package.json`. This program adds to the `package.json` the imported packages
 * of this repository, `bin`, `engines` and `peerDependencies` from the package's own `package.json`, and the addresses
 * of `project.json`. npm compares the repository's address with the origin that the release states.
 *
 * A program, which has `bin`, is bundled with the packages of this repository that it imports, because Node takes
 * longer to load hundreds of small files. Packages from npm stay `dependencies`. For the same reason, the modules of a
 * library are joined into few files: see `joined.ts`.
 *
 * In a published tarball, the imported packages are `dependencies`. In a tarball from a clone, the imported packages
 * are optional `peerDependencies`. If such a package is installed, npm and Bun check its version, but they never fetch
 * it from a registry. Fetching a package would be unsafe: the packages are not published yet, so anyone could
 * publish a package under the same name.
 *
 * A published tarball has no comments in its JavaScript, except those that bundlers read, and no spaces in its schemas,
 * because users download them. The type declarations keep their comments, which editors show.
 *
 * @module
 */

import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { entriesOf, type Exports } from "./entries.ts";
import { NPM, ROOT, run } from "./commands.ts";
import { joinModules } from "./joined.ts";
import { filesIn, packedOnce } from "./packed.ts";
import { filesAddress, project, withAddresses } from "./project.ts";

/** Fields of a `package.json` that this file uses. */
interface Manifest {
  name: string;
  version: string;
  bin?: Record<string, string>;
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional: boolean }>;
}

/** Purpose of a tarball: to install the package from a clone, or to publish it. */
type Purpose = "clone" | "publish";

/**
 * Modules that do something when they are imported, of packages that say so. Bundlers leave out every other module
 * from which a program uses nothing.
 */
const SIDE_EFFECTS: Readonly<Record<string, readonly string[]>> = { "@workqueue/core": ["./lib/inspection/mod.js"] };

/** Types of rooms that only packages of this repository use, so no editor shows their comments. */
const INTERNAL_TYPES = /\/lib\/(structures|policy)\/.*\.d\.ts$/;

const root = resolve(fileURLToPath(ROOT));

/** Fields of the output of `deno info` that this file uses. */
interface Info {
  modules: { specifier: string; dependencies?: { specifier: string }[] }[];
}

function readJson<Value>(path: string): Value {
  return JSON.parse(Deno.readTextFileSync(path));
}

/** Returns the folders of the packages, by name. */
function foldersByName(): Map<string, string> {
  const folders = [
    root,
    ...[...Deno.readDirSync(join(root, "packages"))].filter(({ isDirectory }) => isDirectory)
      .map(({ name }) => join(root, "packages", name)),
  ];
  return new Map(folders.map((folder) => [readJson<{ name: string }>(join(folder, "deno.json")).name, folder]));
}

/** Returns a package's own `package.json`; an empty object if there is none. */
function ownManifest(folder: string): Partial<Manifest> {
  try {
    return readJson(join(folder, "package.json"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** Returns the packages of this repository that a package imports, with the required versions. */
async function siblings(folder: string): Promise<Record<string, string>> {
  const { name, version, exports } = readJson<{ name: string; version: string; exports: Exports }>(
    join(folder, "deno.json"),
  );
  const entries = Object.values(entriesOf(exports));
  const scope = name.slice(0, name.indexOf("/") + 1);
  const url = pathToFileURL(`${folder}/`);
  // One module that imports all entries, because `deno info` takes only one, and a process for each takes long.
  const imports = entries.map((entry) => `import ${JSON.stringify(new URL(entry, url).href)};`).join("");
  const module = `data:text/javascript,${encodeURIComponent(imports)}`;
  const { modules } = JSON.parse((await run(Deno.execPath(), ["info", "--json", module], folder)).stdout) as Info;
  const own = modules.filter(({ specifier }) => specifier.startsWith(url.href));
  const names = new Set<string>();
  for (const { specifier } of own.flatMap(({ dependencies = [] }) => dependencies)) {
    if (specifier.startsWith(scope)) names.add(specifier.split("/", 2).join("/"));
  }
  return Object.fromEntries([...names].sort().map((sibling) => [sibling, version]));
}

/** Returns the modules of a package's programs, without their extension; an empty array if the package is a library. */
function programsOf({ bin = {} }: Partial<Manifest>): string[] {
  return Object.values(bin).map((file) => file.replace(/^\.\/|\.ts$/g, ""));
}

/**
 * Replaces the modules of a packed program with a bundle that contains the imported packages of this repository.
 *
 * @param folder The folder of the package.
 * @param output The folder of the packed package.
 * @param programs The modules that are started, without their extension.
 * @param folders The folders of the packages, by name.
 * @returns The packages from npm that the bundle imports, with the required versions.
 */
async function bundle(
  folder: string,
  output: string,
  programs: readonly string[],
  folders: Map<string, string>,
): Promise<Record<string, string>> {
  const kept = [...programs.map((program) => `${program}.d.ts`), "README.md", "package.json"];
  for (const { name } of [...Deno.readDirSync(output)]) {
    if (!kept.includes(name)) Deno.removeSync(join(output, name), { recursive: true });
  }
  const bundled = new Set<string>();
  await addWithSiblings(bundled, Object.keys(await siblings(folder)), folders);
  const all = [...[...bundled].map((name) => folders.get(name)!), folder];
  const fromNpm = Object.assign({}, ...all.map((folder) => ownManifest(folder).dependencies));
  const external = Object.keys(fromNpm).flatMap((name) => ["--external", name]);
  const options = ["--quiet", "--platform", "deno", "--code-splitting", ...external, "--outdir", output];
  await run(Deno.execPath(), ["bundle", ...options, ...programs.map((program) => `${program}.ts`)], folder);
  return fromNpm;
}

/** Returns the `package.json` of a tarball. */
function complete(
  packed: Manifest,
  { bin = {}, engines = {}, peerDependencies = {} }: Partial<Manifest>,
  imported: Record<string, string>,
  purpose: Purpose,
  directory: string,
): Manifest {
  const programs = programsOf({ bin });
  const commands = Object.keys(bin).map((name, i) => [name, `${programs[i]}.js`]);
  const { dependencies: fromNpm, ...rest } = packed;
  const isPublished = purpose === "publish";
  const dependencies = Object.entries({ ...isPublished ? imported : {}, ...fromNpm })
    .filter(([name]) => !(name in peerDependencies));
  const added = {
    sideEffects: SIDE_EFFECTS[packed.name] ?? [],
    ...addresses(directory),
    bin: Object.fromEntries(commands),
    engines,
    dependencies: Object.fromEntries(dependencies),
    peerDependencies: isPublished ? peerDependencies : { ...imported, ...peerDependencies },
    peerDependenciesMeta: isPublished
      ? {}
      : Object.fromEntries(Object.keys(imported).map((name) => [name, { optional: true }])),
  };
  return { ...rest, ...Object.fromEntries(Object.entries(added).filter(([, value]) => Object.keys(value).length > 0)) };
}

/** Returns the addresses of a package, except those that the project doesn't have yet. */
function addresses(directory: string): Record<string, string | Record<string, string>> {
  const { repository, homepage, bugs, author } = project;
  return {
    repository: repository === null ? {} : { type: "git", url: `git+${repository}.git`, directory },
    homepage: homepage ?? {},
    bugs: bugs ?? {},
    author: author ?? {},
  };
}

/** Returns code without its comments, except those that tell bundlers which calls have no effects. */
function withoutComments(
  code: string,
  comments: readonly { readonly value: string; readonly start?: number | null; readonly end?: number | null }[],
): string {
  let end = 0;
  const kept = comments.filter(({ value }) => !/^\s*[@#]__PURE__\s*$/.test(value)).map((comment) => {
    const before = code.slice(end, comment.start!);
    end = comment.end!;
    return before + (comment.value.includes("\n") ? "\n" : " "); // as the grammar of JavaScript reads a comment
  });
  return kept.join("") + code.slice(end);
}

/** Makes the files of a packed package smaller, and makes the links of its README absolute. */
async function shrink(packed: string, directory: string): Promise<void> {
  const { stop, transform } = await import("npm:esbuild@^0.28");
  const { parse } = await import("npm:@babel/parser@^8");
  for (const path of filesIn(packed)) {
    const change = async (make: (text: string) => string | Promise<string>) =>
      Deno.writeTextFileSync(path, await make(Deno.readTextFileSync(path)));
    if (path.endsWith(".js")) {
      await change(async (text) => {
        const { comments } = parse(text, { sourceType: "module" });
        return (await transform(withoutComments(text, comments!), { target: "esnext", minifySyntax: true })).code;
      });
    } else if (INTERNAL_TYPES.test(path)) await change((text) => text.replace(/\/\*\*[^]*?\*\//g, ""));
    else if (path.endsWith(".schema.json")) await change((text) => JSON.stringify(JSON.parse(text)));
    else if (path.endsWith("README.md") && directory !== "") {
      await change((text) => withAddresses(text, `${directory}/`, filesAddress()));
    }
  }
  await stop();
}

/** Writes the tarball of a package. */
async function pack(
  folder: string,
  tarball: string,
  purpose: Purpose,
  folders: Map<string, string>,
): Promise<void> {
  const scratch = await Deno.makeTempDir({ prefix: "workqueue_pack_" });
  try {
    const all = join(scratch, "all.tgz");
    // Without `--quiet`, `deno pack` lists every file whose types are omitted because no entry module refers to them.
    await run(Deno.execPath(), ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "--output", all], folder);
    await run("tar", ["-xzf", "all.tgz"], scratch);
    const path = join(scratch, "package", "package.json");
    const own = ownManifest(folder);
    const packed = readJson<Manifest>(path);
    const programs = programsOf(own);
    const isBundled = programs.length > 0;
    if (isBundled) packed.dependencies = await bundle(folder, join(scratch, "package"), programs, folders);
    else await joinModules(folder, join(scratch, "package"));
    const directory = relative(root, folder);
    if (purpose === "publish") await shrink(join(scratch, "package"), directory);
    const manifest = complete(packed, own, isBundled ? {} : await siblings(folder), purpose, directory);
    Deno.writeTextFileSync(path, JSON.stringify(manifest, undefined, purpose === "publish" ? undefined : 2));
    const { stdout } = await run(NPM, ["pack", "--silent", "./package"], scratch);
    await Deno.copyFile(join(scratch, stdout.trim()), tarball);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

/** Adds packages and their dependencies to `found`, so that each package comes after its dependencies. */
async function addWithSiblings(found: Set<string>, names: string[], folders: Map<string, string>): Promise<void> {
  for (const name of names) {
    if (found.has(name)) continue;
    await addWithSiblings(found, Object.keys(await siblings(folders.get(name)!)), folders);
    found.add(name);
  }
}

/**
 * Writes tarballs of the packages and their dependencies to a folder. A program's tarball contains its dependencies. If
 * one package can't be packed, writes no tarball.
 */
async function packForClone(targets: string[], folders: Map<string, string>, output: string): Promise<void> {
  const found = new Set<string>();
  for (const name of targets.length === 0 ? [...folders.keys()] : targets) {
    if (programsOf(ownManifest(folders.get(name)!)).length > 0) found.add(name);
    else await addWithSiblings(found, [name], folders);
  }
  const names = [...found];
  const scratch = await Deno.makeTempDir({ prefix: "workqueue_pack_" });
  try {
    const tarballs = names.map((name) => `${name.slice(1).replace("/", "-")}.tgz`);
    const packed = await Promise.allSettled(names.map(async (name, i) => {
      // In a test run, several tests pack the same package.
      const only = await packedOnce(`${root} ${name} from a clone`, async (folder) => {
        await pack(folders.get(name)!, join(folder, "package.tgz"), "clone", folders);
      });
      await Deno.copyFile(join(only, "package.tgz"), join(scratch, tarballs[i]!));
    }));
    for (const result of packed) if (result.status === "rejected") throw result.reason;
    for (const tarball of tarballs) await Deno.copyFile(join(scratch, tarball), join(output, tarball));
    console.log(`Wrote ${tarballs.map((tarball) => `./${tarball}`).join(" ")}`);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

function fail(message: string, code: number): never {
  console.error(message);
  Deno.exit(code);
}

const folders = foldersByName();
const output = Deno.env.get("INIT_CWD") ?? ".";
const isFile = (arg: string) => arg.endsWith(".tgz");
const files = Deno.args.filter(isFile);
const targets = Deno.args.filter((arg) => !isFile(arg)).map((target) => {
  const found = [...folders].find(([, folder]) => resolve(folder) === resolve(root, target));
  if (found !== undefined) return found[0];
  const known = [...folders.values()].map((folder) => relative(root, folder) || ".").sort();
  fail(`Cannot pack ${target}: not a package of this repository. Packages: ${known.join(", ")}`, 2);
});
if (files.length > 1 || (files.length === 1 && targets.length !== 1)) {
  fail("Cannot pack: name one package with a FILE.tgz, or any number of packages without one", 2);
}
try {
  if (files.length === 0) await packForClone(targets, folders, output);
  else await pack(folders.get(targets[0]!)!, resolve(output, files[0]!), "publish", folders);
} catch (error) {
  fail(error instanceof Error ? error.message : `${error}`, 1);
}
