/**
 * Tests of the links on all pages. GitHub resolves a relative link against the page. JSR resolves a relative link in a
 * README against the root of the repository, so it works in the core's README. In the READMEs of `packages/`, a release
 * makes the links absolute.
 */

import { assert, assertEquals } from "@std/assert";
import { globSync, statSync } from "node:fs";
import { ROOT } from "../installs/project.ts";
import { anchorsOf, linksOf, relativeLinks } from "./markdown.ts";

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

/** Addresses of the packages at registries, where nothing is published yet. */
const AT_REGISTRIES = /^https:\/\/(jsr\.io|npmjs\.com\/package|www\.npmjs\.com\/package)\/@workqueue\//;

for (const page of pages) {
  const text = read(page);

  Deno.test(`${page}: the targets of its links exist`, () => {
    assertEquals(relativeLinks(text).flatMap((href) => problemsOf(href, new URL(page, ROOT))), []);
    assertEquals(linksOf(text).filter((href) => AT_REGISTRIES.test(href)), []);
  });
}

Deno.test("README.md: its links work on JSR, which resolves them against the root", () => {
  const links = relativeLinks(read("README.md"));
  assert(links.length > 20);
  assertEquals(links.filter((href) => href.startsWith("/") || href.includes("..")), []);
  assertEquals(links.filter((href) => !href.startsWith("#")).flatMap((href) => problemsOf(href, ROOT)), []);
});
