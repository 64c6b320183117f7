import { KINDS } from "./kinds.ts";
import { LUA, type LuaFile } from "./lua.ts";

const INCLUDE = /^( *)--#include (\w+)$/gm;

/**
 * Returns the Lua of a file in `packages/redis/lua`. Each line `--#include NAME` stands for the text of another file.
 * The comments `--#file NAME` and `--#end` around each text say where it comes from.
 *
 * @throws {TypeError} If the file lacks Lua for a kind.
 */
export function lua(file: LuaFile): string {
  const text = LUA[file];
  for (const kind of KINDS[file] ?? []) {
    if (!text.includes(`'${kind}'`)) throw new TypeError(`Cannot read '${file}.lua': it has no Lua for '${kind}'`);
  }
  const whole = text.replace(
    INCLUDE,
    (_line, spaces, other) => spaces + lua(other).trimEnd().replaceAll("\n", `\n${spaces}`),
  );
  return `--#file ${file}\n${whole}--#end\n`;
}
