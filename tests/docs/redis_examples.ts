/** Examples in pages and comments that need a Redis server: code blocks that are marked `ts ignore`. */

import type { Tokens } from "marked";
import { partsOf } from "../../docs/site/repository.ts";
import { ROOT } from "../../release/commands.ts";
import { tokensOf } from "./markdown.ts";

/** Pages on Redis. */
export const ON_REDIS: readonly string[] = ["docs/redis.md", ...partsOf("docs/redis.md")];

/** Pages that may have such examples. */
const PAGES = ["docs/from-bullmq.md", ...ON_REDIS, "packages/redis/README.md"];

/** Folder of modules whose comments have such examples. */
export const MODULES = "packages/redis/";

export function read(file: string): string {
  return Deno.readTextFileSync(new URL(file, ROOT));
}

function examplesIn(markdown: string): string[] {
  const isExample = (token: unknown): token is Tokens.Code => (token as Tokens.Code).lang === "ts ignore";
  return tokensOf(markdown).filter(isExample).map(({ text }) => text);
}

/** Returns the comments of a module, as Markdown. */
function commentsIn(file: string): string {
  return [...read(file).matchAll(/\/\*\*[^]*?\*\//g)].map(([comment]) => comment.replace(/^\s*\* ?/gm, "")).join(
    "\n\n",
  );
}

export function modulesIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) => {
    if (name === "node_modules") return [];
    return isDirectory ? modulesIn(`${folder}${name}/`) : name.endsWith(".ts") ? [`${folder}${name}`] : [];
  });
}

/** Examples of each page and module. */
export const redisExamples: readonly (readonly [file: string, codes: readonly string[]])[] = [
  ...PAGES.map((page) => [page, examplesIn(read(page))] as const),
  ...modulesIn(MODULES).map((module) => [module, examplesIn(commentsIn(module))] as const),
];
