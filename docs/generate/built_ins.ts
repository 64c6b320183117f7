import { readFileSync } from "node:fs";
import type { BuiltInConfig } from "@workqueue/core";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** What the comment at the head of a built-in limiter's file says of it, beside its definition. */
export interface BuiltIn {
  /** Its entry in the exports of the package. */
  readonly entry: string;
  /** The file that the entry stands for, relative to the repository. */
  readonly file: string;
  /** How long items wait. */
  readonly delay: string;
  /** When to choose it. */
  readonly choice: string;
  /** A config for the docs to show, and for the plot to draw. */
  readonly example: BuiltInConfig;
}

/** The built-in limiters, in the order of `limiters/built_ins.ts`. */
export const builtIns: readonly BuiltIn[] = [
  ...read("limiters/built_ins.ts").matchAll(/^export \* from "\.\/(.+)\.ts";$/gm),
]
  .map(([, name]) => describe(name!));

function describe(name: string): BuiltIn {
  const file = `limiters/${name}.ts`;
  const [head] = read(file).split("*/", 1);
  const comment = head!.replace(/^ \* ?/gm, "");
  const find = (what: string, pattern: RegExp) => {
    const found = comment.match(pattern)?.[1];
    if (found === undefined) throw new Error(`Cannot describe ${file} as its first comment has no ${what}`);
    return found.replaceAll("\n", " ");
  };
  return {
    entry: `./limiters/${name.replaceAll("_", "-")}`,
    file,
    delay: find('paragraph "Delay: …"', /^Delay: ([^]+?)\.\n\n/m),
    choice: find('paragraph "Choose it when …"', /^Choose it when ([^]+?)\.\n\n/m),
    example: JSON.parse(find("example in a block of JSON", /^```json\n([^]+?)\n```$/m)),
  };
}

/** A manifest of the package, with an entry for each built-in limiter. */
export function manifest(path: string): string {
  const isGenerated = (line: string) => /^ +"\.\/limiters\/(?!defaults")/.test(line);
  const entries = builtIns.map(({ entry, file }) => `    "${entry}": "./${file}",`);
  return read(path).split("\n").filter((line) => !isGenerated(line))
    .flatMap((line) => line.startsWith('    "./limiters":') ? [line, ...entries] : [line]).join("\n");
}
