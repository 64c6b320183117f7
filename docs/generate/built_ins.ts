import { readFileSync } from "node:fs";
import type { BuiltInConfig, DisciplineConfig } from "@workqueue/core";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** What the comment at the head of a built-in part's file says of it, beside its definition. */
export interface BuiltIn<Config> {
  /** Its entry in the exports of the package. */
  readonly entry: string;
  /** The file that the entry stands for, relative to the repository. */
  readonly file: string;
  /** The main entry's exports of the file: the function that creates the part, and types. */
  readonly names: readonly string[];
  /** What it does: how long items wait, or in which order they are handed out. */
  readonly effect: string;
  /** When to choose it. */
  readonly choice: string;
  /** A config for the docs to show, and for the plot of a limiter to draw. */
  readonly example: Config;
}

/** The built-in limiters, in the order of `limiters/built_ins.ts`. */
export const builtIns: readonly BuiltIn<BuiltInConfig>[] = describeRoom("limiters", "Delay");

/** The built-in disciplines, in the order of `disciplines/built_ins.ts`. */
export const builtInDisciplines: readonly BuiltIn<DisciplineConfig>[] = describeRoom("disciplines", "Order");

/** `effect` begins the paragraph that says what a part does. */
function describeRoom<Config>(room: string, effect: string): BuiltIn<Config>[] {
  return [...read(`${room}/built_ins.ts`).matchAll(/^export \* from "\.\/(.+)\.ts";$/gm)]
    .map(([, name]) => describe(room, name!, effect));
}

function describe<Config>(room: string, name: string, effect: string): BuiltIn<Config> {
  const file = `${room}/${name}.ts`;
  const [head] = read(file).split("*/", 1);
  const comment = head!.replace(/^ \* ?/gm, "");
  const find = (what: string, pattern: RegExp) => {
    const found = comment.match(pattern)?.[1];
    if (found === undefined) throw new Error(`Cannot describe ${file} as its first comment has no ${what}`);
    return found.replaceAll("\n", " ");
  };
  return {
    entry: `./${room}/${name.replaceAll("_", "-")}`,
    file,
    names: exportsOf(read(file)),
    effect: find(`paragraph "${effect}: …"`, new RegExp(`^${effect}: ([^]+?)\\.\n\n`, "m")),
    choice: find('paragraph "Choose it when …"', /^Choose it when ([^]+?)\.\n\n/m),
    example: JSON.parse(find("example in a block of JSON", /^```json\n([^]+?)\n```$/m)),
  };
}

/**
 * The exports of a built-in part's file for the main entry: functions, types, and the options' types, without their
 * values.
 */
function exportsOf(source: string): string[] {
  return [...source.matchAll(/^export (function|interface|type|const) (\w+)/gm)]
    .map(([, kind, name]) => ({ kind, name: name! }))
    .filter(({ kind, name }) => kind !== "const" || name.endsWith("Options"))
    .sort((a, b) => placeOf(a.name) < placeOf(b.name) ? -1 : 1)
    .map(({ kind, name }) => kind === "function" ? name : `type ${name}`);
}

/** Text by which `deno fmt` sorts names. */
function placeOf(name: string): string {
  return `${name.toLowerCase()} ${name}`;
}

/** The main entry, with an export for each built-in part. */
export function mainEntry(): string {
  const isGenerated = (line: string) =>
    /^export \{ .*\bcreate\w+\b.*\} from "\.\/(limiters\/(?!defaults\.)|disciplines\/)/.test(line);
  const linesOf = (parts: readonly BuiltIn<unknown>[]) =>
    parts.map(({ names, file }) => `export { ${names.join(", ")} } from "./${file}";`);
  return read("mod.ts").split("\n").filter((line) => !isGenerated(line)).flatMap((line) => {
    if (line.startsWith("export { defineLimiter }")) return [line, ...linesOf(builtIns)];
    return line.startsWith("export { defineDiscipline }") ? [line, ...linesOf(builtInDisciplines)] : [line];
  }).join("\n");
}

/** A manifest of the package, with an entry for each built-in part. */
export function manifest(path: string): string {
  const isGenerated = (line: string) => /^ +"\.\/(limiters\/(?!defaults")|disciplines\/)/.test(line);
  const entriesOf = (parts: readonly BuiltIn<unknown>[]) =>
    parts.map(({ entry, file }) => `    "${entry}": "./${file}",`);
  return read(path).split("\n").filter((line) => !isGenerated(line)).flatMap((line) => {
    if (line.startsWith('    "./limiters":')) return [line, ...entriesOf(builtIns)];
    return line.startsWith('    "./disciplines":') ? [line, ...entriesOf(builtInDisciplines)] : [line];
  }).join("\n");
}
