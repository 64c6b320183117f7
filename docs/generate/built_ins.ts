import { readFileSync } from "node:fs";
import type { BuiltInConfig, DisciplineConfig, ThrottleConfig } from "@workqueue/core";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Description of a built-in limiter, discipline or throttle, read from the comment at the start of its file. */
export interface BuiltIn<Config> {
  /** Name of the part's entry in the package's exports. */
  readonly entry: string;
  /** File of the entry, relative to the repository. */
  readonly file: string;
  /** Exports of the file that `mod.ts` re-exports: the function that creates the part, and types. */
  readonly names: readonly string[];
  /** Effect of the part: the delays of a limiter, the order of a discipline, or what a throttle allows. */
  readonly effect: string;
  /** Use cases of the part. */
  readonly choice: string;
  /** Example config, for the docs and for the plot of a limiter. */
  readonly example: Config;
}

/** Built-in limiters, in the order of `limiters/built_ins.ts`. */
export const builtIns: readonly BuiltIn<BuiltInConfig>[] = describeRoom("limiters", "Delay");

/** Built-in disciplines, in the order of `disciplines/built_ins.ts`. */
export const builtInDisciplines: readonly BuiltIn<DisciplineConfig>[] = describeRoom("disciplines", "Order");

/** Built-in throttles, in the order of `throttles/built_ins.ts`. */
export const builtInThrottles: readonly BuiltIn<ThrottleConfig>[] = describeRoom("throttles", "Effect");

/** Describes the parts in a folder. The paragraph about a part's effect begins with the word passed as `effect`. */
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
    if (found === undefined) throw new Error(`Cannot describe ${file}: its first comment has no ${what}`);
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
 * Returns the names that `mod.ts` re-exports from a built-in part's file: functions, types and the definition. A
 * constant whose name ends in `Options` is re-exported only as a type.
 */
function exportsOf(source: string): string[] {
  return [...source.matchAll(/^export (function|interface|type|const) (\w+)/gm)]
    .map(([, kind, name]) => ({ kind, name: name! }))
    .sort((a, b) => placeOf(a.name) < placeOf(b.name) ? -1 : 1)
    .map(({ kind, name }) =>
      kind === "function" || (kind === "const" && !name.endsWith("Options")) ? name : `type ${name}`
    );
}

/** Returns a sort key that orders names as `deno fmt` does. */
function placeOf(name: string): string {
  return `${name.toLowerCase()} ${name}`;
}

/** Returns the source of `mod.ts`, with an export for each built-in part. */
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

/** Returns a manifest of the core package, with an entry for each built-in part. */
export function manifest(path: string): string {
  const isGenerated = (line: string) => /^ +"\.\/(limiters\/(?!defaults")|disciplines\/|throttles\/)/.test(line);
  const entriesOf = (parts: readonly BuiltIn<unknown>[]) =>
    parts.map(({ entry, file }) => `    "${entry}": "./${file}",`);
  return read(path).split("\n").filter((line) => !isGenerated(line)).flatMap((line) => {
    if (line.startsWith('    "./limiters":')) return [line, ...entriesOf(builtIns)];
    if (line.startsWith('    "./disciplines":')) return [line, ...entriesOf(builtInDisciplines)];
    return line.startsWith('    "./throttles":') ? [line, ...entriesOf(builtInThrottles)] : [line];
  }).join("\n");
}
