/**
 * Tests of the links on all pages. GitHub resolves a relative link against the page. JSR resolves a relative link in a
 * README against the root of the repository. On JSR, a relative link therefore works in the core's README and breaks in
 * the READMEs of `packages/`.
 */

import { assert, assertEquals } from "@std/assert";
import { globSync, statSync } from "node:fs";
import { manifest, ROOT } from "../installs/project.ts";
import { anchorsOf, linksOf, relativeLinks } from "./markdown.ts";

const JSR = "https://jsr.io/";

const pages = globSync("**/*.md", { cwd: ROOT, exclude: (path) => /(^|[\\/])node_modules$/.test(path) })
  .map((path) => path.replaceAll("\\", "/")).sort();

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** Reports whether a file or a folder of the repository exists. */
function exists(url: URL): boolean {
  return statSync(url, { throwIfNoEntry: false }) !== undefined;
}

/** Resolves a link against a base. Returns a problem unless the target file exists and contains the target heading. */
function problemsOf(href: string, base: URL): string[] {
  const { hash, href: target } = new URL(href, base);
  const url = new URL(target.slice(0, target.length - hash.length));
  if (!url.href.startsWith(ROOT.href)) return [`${href} leads out of the repository`];
  if (!exists(url)) return [`${href} leads to no file`];
  if (hash !== "" && !anchorsOf(Deno.readTextFileSync(url)).includes(hash)) return [`${href} leads to no heading`];
  return [];
}

/** Folder of each published package, by package name. */
const packages = new Map([[manifest.name, ""]]);
for (const { name: folder } of Deno.readDirSync(new URL("packages/", ROOT))) {
  const { name, publish } = JSON.parse(read(`packages/${folder}/deno.json`));
  if (publish !== undefined) packages.set(name, `packages/${folder}/`);
}

/** Reports whether the core package includes a file when published. */
function isPublished(path: string): boolean {
  return manifest.publish.include.some((entry) =>
    entry.endsWith("/")
      ? path.startsWith(entry)
      : new RegExp(`^${entry.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`).test(path)
  );
}

/**
 * Returns a problem unless a JSR address refers to a package in this repository, or to a file that the core publishes.
 */
function problemsAtJsr(href: string): string[] {
  const { pathname, hash } = new URL(href);
  const [, name, version, path] = /^\/(@workqueue\/[\w-]+)(?:\/([\d.]+)\/(.+))?$/.exec(pathname) ?? [];
  if (name === undefined || !packages.has(name)) return [`${href} is not a package of this repository`];
  if (path === undefined) return [];
  if (name !== manifest.name || version !== manifest.version) return [`${href} has another version`];
  return isPublished(path) ? problemsOf(path + hash, ROOT) : [`${href} is not published`];
}

for (const page of pages) {
  const text = read(page);

  Deno.test(`${page}: what it links to is there`, () => {
    const problems = relativeLinks(text).flatMap((href) => problemsOf(href, new URL(page, ROOT)));
    assertEquals([...problems, ...linksOf(text).filter((href) => href.startsWith(JSR)).flatMap(problemsAtJsr)], []);
  });
}

Deno.test("README.md: its links work on JSR, which resolves them against the root", () => {
  const links = relativeLinks(read("README.md"));
  assert(links.length > 20);
  assertEquals(links.filter((href) => href.startsWith("/") || href.includes("..")), []);
  assertEquals(links.filter((href) => !href.startsWith("#")).flatMap((href) => problemsOf(href, ROOT)), []);
});

for (const folder of packages.values()) {
  if (folder === "") continue;
  Deno.test(`${folder}README.md: its links are absolute, since JSR resolves relative ones against the root`, () => {
    const links = linksOf(read(`${folder}README.md`));
    assert(links.some((href) => href.startsWith(JSR)));
    assertEquals(links.filter((href) => !/^(https?:|#)/.test(href)), []);
  });
}
