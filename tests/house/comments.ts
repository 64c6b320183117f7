/**
 * Checks the form of comments: the width of their lines, which `deno fmt` doesn't change, and their first word. A
 * comment that begins with a word such as "What" has no subject.
 *
 * Run as a program, this module prints the problems and fails if there are any. `deno task style` runs this program.
 */

import manifest from "../../deno.json" with { type: "json" };
import { ROOT } from "../../release/commands.ts";
import { allModules } from "./modules.ts";

const MAX_COLUMNS = manifest.fmt.lineWidth;

/** Generated modules, which nobody reads. */
const GENERATED: readonly string[] = ["packages/dashboard/page.ts", "packages/redis/scripts/lua.ts"];

/** Folder of Lua files. The width of each of their lines is checked, because nothing formats them. */
const LUA = "packages/redis/lua/";

/** Line that begins or continues a comment. */
const COMMENT = /^\s*(\/\/|\/\*|\*\s)/;

/** Comment after code. */
const TRAILING_COMMENT = /\s\/\/\s/;

/** Line of a comment in TypeScript or Lua: a comment mark followed by text, or by a tag and its description. */
const TEXT = /^\s*(?:\/\*\*?|\/\/|\*|--)\s+(?:@(?:param|typeParam|template)\s+\w+\s+|@(?:returns|default)\s+)?(.*)$/;

/** Line that can precede the first line of a comment: code, an empty line, or the opening of a block comment. */
const BEFORE_FIRST = /^(?!\s*(\/\/|\*|\/\*\*?\s+\S|--\s))/;

const FORBIDDEN = /^(What|How|Where|Who|Whose|Whoever|Whatever|Which|Those|That|As)\b/;

/** Returns the problems with the comments in a module, as `path:line: problem`. */
export function commentProblemsIn(path: string, text: string): string[] {
  if (GENERATED.includes(path)) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    const columns = [...line].length;
    const counts = path.startsWith(LUA) || COMMENT.test(line) || TRAILING_COMMENT.test(line);
    const word = firstWordOf(line, lines[i - 1] ?? "");
    return [
      ...(counts && columns > MAX_COLUMNS ? [`${path}:${i + 1}: ${columns} columns`] : []),
      ...(word === undefined ? [] : [`${path}:${i + 1}: begins with "${word}"`]),
    ];
  });
}

/** Returns the first word of a comment if it is forbidden. */
function firstWordOf(line: string, previous: string): string | undefined {
  const text = TEXT.exec(line)?.[1];
  const isFirst = BEFORE_FIRST.test(previous) || /^\s*(\/\*|\*\s+@)/.test(line);
  if (text !== undefined) return isFirst ? FORBIDDEN.exec(text)?.[1] : undefined;
  return FORBIDDEN.exec(/^\s*[^\s/*].*\s\/\/\s+(.*)$/.exec(line)?.[1] ?? "")?.[1];
}

/** Returns the problems with all comments in the repository. */
export async function allCommentProblems(): Promise<string[]> {
  const lua = [...Deno.readDirSync(new URL(LUA, ROOT))].map(({ name }) => LUA + name);
  const found = [...allModules(), ...lua].map(async (path) =>
    commentProblemsIn(path, await Deno.readTextFile(new URL(path, ROOT)))
  );
  return (await Promise.all(found)).flat();
}

if (import.meta.main) {
  const problems = await allCommentProblems();
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    console.error(
      `Found ${problems.length} comments that are too wide or have no subject: see "Folders and rules" in CONTRIBUTING.md`,
    );
    Deno.exit(1);
  }
}
