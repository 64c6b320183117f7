/** Pages about every public symbol, written from the comments of the code. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./repository.ts";

/** Function, class, interface, type or constant of a package. */
interface PublicSymbol {
  readonly name: string;
  /** Kind, as in the code: `function`, `class`, `interface`, `type` or `const`. */
  readonly kind: string;
  /** Lines of its declaration, without comments. */
  readonly declaration: readonly string[];
  /** Comment, without its tags. */
  readonly text: string;
  readonly tags: readonly Tag[];
  readonly members: readonly Member[];
}

interface Tag {
  readonly name: string;
  readonly text: string;
}

interface Member {
  readonly declaration: string;
  readonly text: string;
  readonly tags: readonly Tag[];
}

/** Returns the public entry points of the packages, by name: `@workqueue/core` and so on. */
export function entryPoints(): Map<string, string> {
  const { imports } = JSON.parse(readFileSync(join(ROOT, "deno.all.json"), "utf8"));
  const packages = Object.entries<string>(imports).filter(([name, path]) =>
    /^@workqueue\/(?!cli|engine)[\w-]+(\/testing)?$/.test(name) && path.endsWith("mod.ts")
  );
  return new Map([["@workqueue/core", "./mod.ts"], ...packages]);
}

/**
 * Returns the pages of an entry point, by path, from the output of `deno doc`. The page `index.md` lists the others.
 *
 * @param folder The folder of the package. Symbols that come from other packages have their pages there.
 */
export function referencePages(name: string, folder: string, output: string): Record<string, string> {
  const symbols = symbolsIn(output, new URL(`${folder}/`, pathToFileURL(`${ROOT}/`)).href);
  const paths = new Map(symbols.map((symbol) => [symbol.name, `${symbol.name.toLowerCase()}.md`]));
  const pages: Record<string, string> = { "index.md": indexPage(name, symbols, paths) };
  for (const symbol of symbols) {
    const path = paths.get(symbol.name)!; // one page for names that differ only in their case, such as `Result`
    pages[path] = pages[path] === undefined ? symbolPage(name, symbol, paths) : pages[path] + body(symbol, paths, 2);
  }
  return pages;
}

/** Reads the output of `deno doc`: for each symbol its place, its declaration, and indented text and members. */
function symbolsIn(output: string, folder: string): PublicSymbol[] {
  return output.split(/^Defined in /m).slice(1).filter((block) => block.startsWith(folder)).map((block) => {
    const lines = block.slice(block.indexOf("\n\n") + 2).trimEnd().split("\n");
    const first = lines.findIndex((line, i) =>
      i > 0 && line !== "" && !/^ {4}|^ {2}@|^\S/.test(line) && isDeclaration(line)
    );
    const [own, rest] = first < 0 ? [lines.slice(1), []] : [lines.slice(1, first), lines.slice(first)];
    const members = membersIn(rest);
    const [, kind = "type", name = ""] =
      /(?:abstract )?(function|class|interface|type|const|let|var|namespace|enum)\*? ([\w$]+)/.exec(lines[0]!) ?? [];
    const declaration = members.length === 0
      ? [lines[0]!]
      : [`${lines[0]} {`, ...members.map((member) => `  ${member.declaration};`), "}"];
    return { name, kind, declaration, members, ...commentIn(dedent(own, 2)) };
  });
}

/** Reports whether a line with two spaces is the declaration of a member and not a sentence. */
function isDeclaration(line: string): boolean {
  return /^ {2}(?:(?:static|readonly|abstract|override|get|set|async|optional|protected) )*(?:\[[\w.]+\]|[\w$]+)\??(?:<.*>)?(?:\(.*\)|: ).*$/
    .test(line) && !/^ {2}[A-Z][\w']* [a-z]/.test(line) && !/\.$/.test(line);
}

function membersIn(lines: readonly string[]): Member[] {
  const members: Member[] = [];
  let text: string[] = [];
  let declaration: string | undefined;
  const end = () => {
    if (declaration !== undefined) members.push({ declaration, ...commentIn(dedent(text, 4)) });
    text = [];
  };
  for (const line of lines) {
    if (/^ {2}\S/.test(line)) {
      end();
      declaration = line.trim();
    } else text.push(line);
  }
  end();
  return members;
}

const dedent = (lines: readonly string[], by: number) => lines.map((line) => line.slice(by));

/** Reads a comment: its text, and then its tags, whose text is indented by four spaces. */
function commentIn(lines: readonly string[]): { text: string; tags: Tag[] } {
  const first = lines.findIndex((line) => line.startsWith("@"));
  const text = lines.slice(0, first < 0 ? undefined : first).join("\n").trim();
  const tags: { name: string; lines: string[] }[] = [];
  for (const line of first < 0 ? [] : lines.slice(first)) {
    if (line.startsWith("@")) tags.push({ name: line, lines: [] });
    else tags.at(-1)!.lines.push(line.slice(4));
  }
  return { text, tags: tags.map(({ name, lines }) => ({ name, text: lines.join("\n").trim() })) };
}

type Paths = ReadonlyMap<string, string>;

/** Turns links to symbols into links to their pages. */
function link(text: string, paths: Paths): string {
  return text.replace(/\{@link(?:code|plain)? ([^}\s|]+)(?:[|\s]+([^}]+))?\}/g, (_, name: string, label = name) => {
    if (/^https?:/.test(name)) return `[${label}](${name})`;
    const path = paths.get(name.split(/[.#]/)[0]!);
    return path === undefined ? `\`${label}\`` : `[\`${label}\`](./${path})`;
  });
}

/** Escapes what Vue or HTML would read, outside of code. */
function escape(text: string): string {
  return text.split(/(```[\s\S]*?```|`[^`\n]*`)/).map((part, i) =>
    i % 2 === 1 ? part : part.replace(/</g, "&lt;").replace(/\{\{/g, "&#123;&#123;")
  ).join("");
}

function symbolPage(entry: string, symbol: PublicSymbol, paths: Paths): string {
  const what = ["interface", "type"].includes(symbol.kind) ? `type ${symbol.name}` : symbol.name;
  return `---\ntitle: ${symbol.name}\neditLink: false\n---\n\n# \`${symbol.name}\`\n\n` +
    `\`\`\`ts\nimport { ${what} } from "${entry}";\n\`\`\`\n${body(symbol, paths, 1)}`;
}

/** Returns the description of a symbol, under a heading of its own if it is not the first on its page. */
function body(symbol: PublicSymbol, paths: Paths, level: 1 | 2): string {
  const heading = level === 1 ? "" : `\n## \`${symbol.kind} ${symbol.name}\`\n`;
  const members = symbol.members.filter(({ text, tags }) => text !== "" || tags.length > 0);
  return [
    heading,
    `\`\`\`ts\n${symbol.declaration.join("\n")}\n\`\`\``,
    escape(link(symbol.text, paths)),
    ...tagTexts(symbol.tags, paths, "##"),
    ...(members.length === 0 ? [] : ["## Members"]),
    ...members.flatMap(({ declaration, text, tags }) => [
      `### ${nameIn(declaration)}`,
      `\`\`\`ts\n${declaration}\n\`\`\``,
      escape(link(text, paths)),
      ...tagTexts(tags, paths, "####"),
    ]),
  ].join("\n\n");
}

function nameIn(declaration: string): string {
  const [, name = declaration] =
    /^(?:(?:static|readonly|abstract|override|get|set|async|protected) )*(\[[\w.]+\]|[\w$]+)/.exec(declaration) ?? [];
  return `\`${name}\``;
}

const TITLES: Readonly<Record<string, string>> = {
  "@template": "Type parameters",
  "@param": "Parameters",
  "@return": "Returns",
  "@throws": "Errors",
  "@default": "Default",
  "@see": "See also",
  "@deprecated": "Deprecated",
};

/** Returns the tags as text: examples with their titles, and lists of parameters and errors. */
function tagTexts(tags: readonly Tag[], paths: Paths, heading: string): string[] {
  const texts: string[] = [];
  const groups = new Map<string, string[]>();
  for (const { name, text } of tags) {
    const [tag = "", ...words] = name.split(" ");
    if (tag === "@module") continue;
    if (tag === "@example") {
      const [title, ...rest] = text.split("\n");
      texts.push(`${heading} Example: ${escape(title!)}`, rest.join("\n").trim());
      continue;
    }
    const subject = words.length === 0 ? "" : `\`${words.join(" ").replace(/^\{(.*)\}$/, "$1")}\``;
    const sentence = escape(link(text.replace(/\s*\n\s*/g, " "), paths));
    const line = subject === "" ? sentence : sentence === "" ? subject : `${subject}: ${sentence}`;
    groups.set(tag, [...groups.get(tag) ?? [], line]);
  }
  const lists = [...groups].map(([tag, lines]) => {
    const title = `**${TITLES[tag] ?? tag.slice(1)}**`;
    return lines.length === 1 ? `${title}: ${lines[0]}` : `${title}:\n\n${lines.map((line) => `- ${line}`).join("\n")}`;
  });
  return [...lists, ...texts];
}

const KINDS: readonly [title: string, kinds: readonly string[]][] = [
  ["Functions", ["function"]],
  ["Classes", ["class"]],
  ["Constants", ["const", "let", "var", "enum", "namespace"]],
  ["Types", ["interface", "type"]],
];

function indexPage(entry: string, symbols: readonly PublicSymbol[], paths: Paths): string {
  const sections = KINDS.flatMap(([title, kinds]) => {
    const lines = symbols.filter(({ kind }) => kinds.includes(kind)).toSorted((a, b) => a.name < b.name ? -1 : 1).map(
      ({ name, text }) => {
        const [sentence] = text.replace(/\s+/g, " ").split(/(?<=[.:]) (?=[A-Z`{])/);
        return `- [\`${name}\`](./${paths.get(name)}): ${escape(link(sentence!, paths))}`;
      },
    );
    return lines.length === 0 ? [] : [`## ${title}`, [...new Set(lines)].join("\n")];
  });
  return `---\ntitle: "${entry}"\neditLink: false\n---\n\n# \`${entry}\`\n\n${sections.join("\n\n")}\n`;
}
