/**
 * Checks the Lua of the scripts on Redis with luacheck: unknown and unused names, and values that nothing reads.
 *
 * The scripts that begin with the same Lua are checked together. A problem of a file that several scripts include is
 * reported only if all of them have it.
 *
 * Run as a program, this module prints the problems and fails if there are any. `deno task style` runs this program.
 */

import { spawnSync } from "node:child_process";
import { constants } from "../../packages/redis/scripts/constants.ts";
import type { DeclaredScript } from "../../packages/redis/scripts/declare.ts";
import * as openPartitions from "../../packages/redis/scripts/open_partitions.ts";
import * as repartition from "../../packages/redis/scripts/repartition.ts";
import { SCRIPTS } from "../../packages/redis/scripts/script.ts";
import { THROTTLE_SCRIPTS } from "../../packages/redis/scripts/throttle_script.ts";

const OPTIONS = [
  ...[
    "--no-config",
    "--no-color",
    "--codes",
    "--formatter",
    "plain",
    "--no-max-line-length",
  ],
  ...[
    "--std",
    "lua51",
    "--globals",
    "ARGV",
    "--read-globals",
    "redis",
    "cjson",
    "struct",
    "KEYS",
  ],
  // Names may hide those of the files in which a text is included, a branch may contain only a comment, and spaces are
  // those of included texts.
  ...["--ignore", "4..", "542", "6.."],
];

/** Lua that declares the constants. */
const values = `${constants}local IS_PARTITION, ONE_ROW = true, 1\n`;

type Source = DeclaredScript<never, never, never>["source"];

/** Whether luacheck is installed. */
export const hasLuacheck: boolean = spawnSync("luacheck", ["--version"]).status === 0;

/** Returns the Lua of all scripts of queues and throttles. */
export function scriptSources(): Source[] {
  const all = [SCRIPTS, THROTTLE_SCRIPTS, openPartitions, repartition].flatMap((
    scripts,
  ) => Object.values(scripts));
  return all.flatMap((script) => "source" in script ? [script.source] : []);
}

/** Returns the problems in the Lua of scripts, as `packages/redis/lua/FILE.lua:LINE: problem`. */
export function luaProblems(scripts: readonly Source[]): string[] {
  const groups = Map.groupBy(
    scripts,
    ({ prelude, functions }) => `${values}${prelude}${functions}\n`,
  );
  const found = new Map<string, number>();
  const places: string[] = [];
  for (const [shared, group] of groups) {
    const source = shared +
      group.map(({ main }) => `(function()\n${main}\nend)()\n`).join("");
    const { stdout, error } = spawnSync("luacheck", [...OPTIONS, "--", "-"], {
      input: source,
      encoding: "utf8",
    });
    if (error) throw error;
    const ofLines = placesIn(source);
    places.push(...ofLines);
    for (const [, line, text] of stdout.matchAll(/^stdin:(\d+):\d+: (.*)$/gm)) {
      const problem = `${ofLines[Number(line) - 1]}: ${text!.replace(/ (on|at) line \d+/, "")}`;
      found.set(problem, (found.get(problem) ?? 0) + 1);
    }
  }
  return [...found].filter(([problem, count]) => {
    const place = problem.split(": ")[0]!;
    const isUnknownName = /\((E|W1)/.test(problem);
    return place !== "" &&
      (isUnknownName ||
        count === places.filter((each) => each === place).length);
  }).map(([problem]) => problem);
}

/** Returns the file and the line from which each line of a source comes. They are empty for lines of no file. */
function placesIn(source: string): string[] {
  const open: { file: string; line: number }[] = [];
  return source.split("\n").map((line) => {
    const file = /^ *--#file (\w+)$/.exec(line)?.[1];
    if (/^ *--#end$/.test(line)) open.pop();
    const place = open.at(-1);
    if (place !== undefined && !/^ *--#end$/.test(line)) place.line++;
    if (file !== undefined) open.push({ file, line: 0 });
    return place === undefined || file !== undefined ? "" : `packages/redis/lua/${place.file}.lua:${place.line}`;
  });
}

if (import.meta.main) {
  if (!hasLuacheck) {
    console.log(
      "leaving out the check of Lua, because luacheck is not installed",
    );
  } else {
    const problems = luaProblems(scriptSources());
    if (problems.length > 0) {
      console.error(
        `${problems.join("\n")}\nFound ${problems.length} problems in Lua`,
      );
      Deno.exit(1);
    }
  }
}
