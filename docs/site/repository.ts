/** Files of the repository that are pages of the site, and the links between them. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, join, normalize, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";

/** Root of the repository. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
/** Folder of the generated pages, relative to the root. */
export const PAGES = "docs/site/pages";

const isIn = (path: string) => existsSync(join(ROOT, path));
const namesIn = (folder: string) => readdirSync(join(ROOT, folder));
const pagesIn = (folder: string) =>
  namesIn(folder).filter((name) => name.endsWith(".md")).map((name) => normalize(join(folder, name)));

/** Pages of the guide, each followed by its parts. */
export const guide: readonly string[] = pagesIn("docs").flatMap((page) => [page, ...partsOf(page)]);

/** Markdown files that are pages of the site, relative to the root. */
export const documents: readonly string[] = [
  ...pagesIn("."),
  ...guide,
  "docs/site/explorer.md",
  ...pagesIn("bench"),
  "examples/README.md",
  ...namesIn("packages").map((name) => `packages/${name}/README.md`).filter(isIn),
];

/** Returns the parts of a page, which are in the folder with its name, in the order in which the page lists them. */
export function partsOf(page: string): string[] {
  const folder = page.replace(/\.md$/, "");
  if (!isIn(folder)) return [];
  const listed = [...read(page).matchAll(/^- \[.+?\]\((.+?)\)/gm)].map(([, link]) => targetOf(page, link!));
  return pagesIn(folder).sort((one, other) => listed.indexOf(one) - listed.indexOf(other));
}

/** Markdown files that are no pages of the site, relative to the root. */
export function otherDocuments(folder = "."): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = normalize(join(folder, entry.name));
    if (entry.isDirectory()) return entry.name === "node_modules" || path === PAGES ? [] : otherDocuments(path);
    return path.endsWith(".md") && !documents.includes(path) ? [path] : [];
  });
}

/** Returns the text of a file of the repository. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

const isFolder = (path: string) => statSync(join(ROOT, path)).isDirectory();
const isPicture = (path: string) => [".png", ".svg"].includes(extname(path));

/**
 * Returns the page of the site for a file or folder of the repository: the file itself if it is a page, or a page that
 * shows the file or lists the folder. Returns `undefined` if the repository has no such file.
 */
export function pageOf(path: string): string | undefined {
  if (documents.includes(path)) return path.replace(/README\.md$/, "index.md");
  if (!isIn(path)) return undefined;
  if (!isFolder(path)) return sourceAt(path);
  const readme = join(path, "README.md");
  return documents.includes(readme) ? pageOf(readme) : `source/${path}/index.md`;
}

/** Returns the page that shows a file, without the dot that VitePress would take for the end of a page's name. */
function sourceAt(path: string): string {
  return `source/${path.replaceAll(".", "_")}.md`;
}

/** Returns the file or folder to which a link refers, or `undefined` if the link leaves the repository. */
export function targetOf(document: string, link: string): string | undefined {
  const path = decodeURI(link.split(/[?#]/)[0]!);
  if (path === "" || /^[a-z]+:|^\//i.test(link)) return undefined;
  return normalize(join(dirname(document), path)).replace(/\/$/, "");
}

/** Returns a link of a document as a link between pages of the site. */
export function siteLink(document: string, link: string): string {
  const target = targetOf(document, link);
  const page = target === undefined ? undefined : pageOf(target);
  if (page === undefined) return link;
  return relativeLink(dirname(document), page) + link.slice(link.split("#")[0]!.length);
}

const LINK = /\]\(([^)\s]+)\)/g;

/** Files and folders that documents link to and that are no documents themselves, with the files in these folders. */
export function linkedSources(): string[] {
  const sources = new Set<string>();
  const add = (path: string) => {
    if (documents.includes(path) || isPicture(path) || sources.has(path)) return;
    sources.add(path);
    if (isFolder(path)) { for (const name of namesIn(path)) add(join(path, name)); }
  };
  for (const document of documents) {
    for (const [, link] of read(document).matchAll(LINK)) {
      const target = targetOf(document, link!);
      if (target !== undefined && isIn(target)) add(target);
    }
  }
  return [...sources].filter((path) => pageOf(path)!.startsWith("source/")).sort();
}

const LANGUAGES: Readonly<Record<string, string>> = {
  ".ts": "ts",
  ".mjs": "js",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml",
  ".sh": "sh",
  ".toml": "toml",
};

/** Returns the page that shows a file or lists a folder. */
export function sourcePage(path: string): string {
  const text = isFolder(path)
    ? namesIn(path).filter((name) => !isPicture(name)).sort().map((name) =>
      `- [${name}](${relativeLink(`source/${path}`, pageOf(join(path, name))!)})`
    ).join("\n")
    : `\`\`\`\`\`${LANGUAGES[extname(path)] ?? "txt"}\n${read(path)}\n\`\`\`\`\``;
  return `---\ntitle: ${path}\neditLink: false\naside: false\n---\n\n# \`${path}\`\n\n${text}\n`;
}

/** Returns a link from a page in a folder to another page of the site. */
function relativeLink(folder: string, page: string): string {
  const path = relative(folder, page);
  return path.startsWith(".") ? path : `./${path}`;
}
