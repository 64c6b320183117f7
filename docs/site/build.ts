/**
 * Builds the site of the docs: `deno task site [--base /path/] [--out FOLDER]`.
 * VitePress needs Node, and is installed from npm into this folder the first time; after that, no network is needed.
 * The result is a folder of static files: by default `workqueue_site` in the system's folder for temporary files.
 *
 * @module
 */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { playgroundFiles } from "../playground/build.ts";
import { entryPoints, referencePages } from "./reference.ts";
import { linkedSources, pageOf, PAGES, ROOT, sourcePage } from "./repository.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const { base, out } = parseArgs({ options: { base: { type: "string" }, out: { type: "string" } } }).values;
if (base !== undefined && !/^\/(.*\/)?$/.test(base)) fail(`'--base' must begin and end with '/', got '${base}'`);
const folder = resolve(out ?? join(tmpdir(), "workqueue_site"));

if (!existsSync(join(HERE, "node_modules/vitepress"))) run("npm", ["ci", "--no-audit", "--no-fund"]);
process.once("exit", () => rmSync(join(ROOT, PAGES), { recursive: true, force: true }));
writeSources();
writeReference();
run(join(HERE, "node_modules/.bin/vitepress"), ["build"], {
  SITE_OUT: folder,
  ...base !== undefined && { SITE_BASE: base },
});
for (const [name, text] of Object.entries(await playgroundFiles())) write(join(folder, "playground", name), text);
console.log(`The site is in ${folder}`);

/** Writes pages for the files that documents link to and that are no documents. */
function writeSources(): void {
  for (const path of linkedSources()) write(join(ROOT, PAGES, pageOf(path)!), sourcePage(path));
}

function writeReference(): void {
  const packages: [name: string, folder: string][] = [];
  for (const [name, path] of entryPoints()) {
    const folder = name.replace("@workqueue/", "").replaceAll("/", "-");
    packages.push([name, folder]);
    const args = ["doc", "--config", "deno.all.json", path];
    const { stdout, status, stderr } = spawnSync(process.execPath, args, {
      cwd: ROOT,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: 100_000_000,
    });
    if (status !== 0) fail(`deno doc ${path} failed:\n${stderr}`);
    for (const [page, text] of Object.entries(referencePages(name, dirname(path), stdout))) {
      write(join(ROOT, PAGES, "reference", folder, page), text);
    }
  }
  write(join(ROOT, PAGES, "reference/packages.json"), JSON.stringify({ packages }));
  const list = packages.map(([name, folder]) => `- [\`${name}\`](./${folder}/index.md)`).join("\n");
  write(
    join(ROOT, PAGES, "reference/index.md"),
    `---\ntitle: Reference\neditLink: false\n---\n\n# Reference\n\n${list}\n`,
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function run(command: string, args: readonly string[], env: Record<string, string> = {}): void {
  const { status, error } = spawnSync(command, args, { cwd: HERE, stdio: "inherit", env: { ...process.env, ...env } });
  if (error !== undefined) fail(`Cannot run ${command}: ${error.message}. Install Node and npm`);
  if (status !== 0) fail(`${command} ended with exit code ${status}`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
