import { readdirSync, readFileSync } from "node:fs";
import { entriesOf, type Exports } from "../../release/entries.ts";
import { manifest } from "./built_ins.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * Folders outside the workspace that contain a `package.json`. The `package.json` in `tests/` also lists the npm
 * packages of the examples, except those of the controller, which is a project of its own.
 */
const OTHERS = ["bench", "docs", "examples/controller", "tests"];

/**
 * Stand-ins for JSR packages. If JSR is reachable, `tests/std/arguments.ts` replaces the stand-ins with the original
 * packages.
 */
const STAND_INS = {
  "@std/assert": "./tests/std/assert.ts",
  "@std/async": "./tests/std/async.ts",
  "@std/testing/time": "./tests/std/testing_time.ts",
};

/** Folders of code that needs other types: those of a browser, or of VitePress, which checks it when it builds. */
const OTHER_TYPES = ["packages/dashboard/page/", "packages/simulate/page/", "docs/site/.vitepress/"];

/**
 * Returns the Deno config for tests, benchmarks and docs, which maps the name of each package to a file or an npm
 * specifier. The config has no workspace, because with a workspace, Deno would install the packages of all members
 * before a program starts.
 */
export function allPackages(): string {
  const { name, version, exports, compilerOptions, fmt, lint } = JSON.parse(manifest("deno.json"));
  const packages = packageFolders();
  const fromNpm = [...packages, ...OTHERS].flatMap(importsFromNpm);
  const imports = {
    ...Object.fromEntries(packages.flatMap(specifiersOf)),
    ...STAND_INS,
    ...Object.fromEntries(fromNpm.sort(([a], [b]) => a < b ? -1 : 1)),
  };
  const config = {
    name,
    version,
    exports,
    lock: "./deno.all.lock",
    exclude: OTHER_TYPES,
    imports,
    compilerOptions,
    fmt,
    lint,
  };
  return JSON.stringify(config, undefined, 2) + "\n";
}

/**
 * Returns the config that Bun reads. The config maps each export of the core, each package and each stand-in to a file.
 */
export function tsconfig(): string {
  const { name, exports } = JSON.parse(manifest("deno.json")) as { name: string; exports: Record<string, string> };
  const files = {
    ...Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry.replace(".", name), file])),
    ...Object.fromEntries(packageFolders().flatMap(specifiersOf)),
    ...STAND_INS,
  };
  const paths = Object.fromEntries(Object.entries(files).map(([specifier, file]) => [specifier, [file]]));
  return JSON.stringify({ compilerOptions: { strict: true, paths } }, undefined, 2) + "\n";
}

/** Returns the folders of all packages except the core, relative to the repository. */
export function packageFolders(): string[] {
  return readdirSync(new URL("packages/", ROOT), { withFileTypes: true })
    .filter((entry) => entry.isDirectory()).map(({ name }) => `packages/${name}`).sort();
}

function read(path: string) {
  return JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));
}

/** Returns the names under which a package in this repository is imported, each with its file. */
function specifiersOf(folder: string): [specifier: string, file: string][] {
  const { name, exports } = read(`${folder}/deno.json`) as { name: string; exports: Exports };
  return Object.entries(entriesOf(exports)).map((
    [entry, file],
  ) => [entry.replace(".", name), file.replace("./", `./${folder}/`)]);
}

/** Returns the packages listed in a `package.json`, with the specifiers that Deno installs. */
function importsFromNpm(folder: string): [name: string, specifier: string][] {
  const { dependencies, devDependencies } = read(`${folder}/package.json`) as Record<string, Record<string, string>>;
  return Object.entries({ ...dependencies, ...devDependencies })
    .map(([name, range]) => [name, range.startsWith("npm:") ? range : `npm:${name}@${range}`]);
}
