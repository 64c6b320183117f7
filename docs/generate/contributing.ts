import { existsSync, readdirSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Folders whose subfolders are listed in their place. */
const OPEN: readonly string[] = ["lib", "packages"];

/** Maximum length of a line in a page. */
const WIDTH = 120;

/** Returns the folders that `CONTRIBUTING.md` lists, relative to the repository. */
export function listedFolders(): string[] {
  const ignored = read(".gitignore").split("\n");
  return foldersIn(".").filter((name) => !name.startsWith(".") && !ignored.includes(`${name}/`))
    .flatMap((name) => OPEN.includes(name) ? foldersIn(name).map((inner) => `${name}/${inner}`) : [name]);
}

function foldersIn(path: string): string[] {
  return readdirSync(new URL(path, root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory()).map(({ name }) => name).sort();
}

/** Returns the first sentence about a folder: of the comment in its `mod.ts`, or of its `README.md`. */
export function sentenceAbout(folder: string): string {
  const [module, page] = [`${folder}/mod.ts`, `${folder}/README.md`];
  const text = has(module)
    ? read(module).split("*/", 1)[0]!.replace(/^\/?[ *]+/gm, "").replace(/\{@linkcode (.+?)\}/g, "`$1`")
    : has(page)
    ? read(page).replace(/^#.*\n+/, "")
    : "";
  const sentence = /^([^]+?\.)(?=\s|$)/.exec(text.trim())?.[1];
  if (sentence === undefined) throw new Error(`Cannot list folder: ${folder} has no sentence in mod.ts or README.md`);
  return sentence.replace(/\s+/g, " ");
}

function has(path: string): boolean {
  return existsSync(new URL(path, root));
}

function read(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** Returns an item of a Markdown list, wrapped as `deno fmt` wraps it. */
function item(text: string): string {
  const lines: string[] = [];
  let line = "-";
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = " ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

/** Returns `CONTRIBUTING.md` with the list of folders at the beginning of the section "Folders and rules". */
export function contributing(): string {
  const list = listedFolders().map((folder) => item(`\`${folder}/\`: ${sentenceAbout(folder)}`)).join("\n");
  return read("CONTRIBUTING.md").replace(/(?<=\n## Folders and rules\n\n)(?:(?:- | {2}).*\n)*/, () => `${list}\n`);
}
