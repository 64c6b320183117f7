import type { Retry } from "../connection/connection.ts";
import { constants } from "./constants.ts";
import { type Argument, type Arguments, luaName, type Reply, type ValuesOf } from "./fields.ts";
import { lua } from "./lua_files.ts";
import { shorten } from "./shorten.ts";

/** Lua expression for the server's time, as seconds and microseconds. */
export const SERVER_TIME = "redis.call('TIME')";

/** Declaration of a script. */
export interface Declaration<Args extends Arguments, Row extends Arguments, R> {
  /**
   * Handling of a call whose reply was lost.
   *
   * @default {"always"}
   */
  readonly retry?: Retry;
  /**
   * Whether the script adds keys. A script that adds keys fails when the server's memory is full.
   *
   * @default {false}
   */
  readonly adds?: boolean;
  /**
   * Lua with which the script begins.
   *
   * @default {the prelude of a queue's scripts}
   */
  readonly prelude?: string;
  /** Lua functions that the script's body needs. */
  readonly functions?: string;
  readonly args: Args;
  /** Fields of each row. The rows follow the arguments. */
  readonly rows?: Row;
  readonly reply: Reply<R>;
  /**
   * Lua body of the script. The arguments are local variables. If `retry` is `"marked"`, the variable `resent` is true
   * if the script may have run before. `for key, token in rows() do` is a loop over the rows, with these fields of the
   * row as local variables.
   */
  readonly body: string;
}

/** Script: its Lua, and functions that encode its arguments and decode its replies. */
export interface DeclaredScript<Args extends Arguments, Row extends Arguments, R> {
  readonly retry: Retry;
  /**
   * Returns the Lua.
   *
   * @param time A Lua expression that yields the time as a table of seconds and microseconds.
   * @param isPartition Whether the script is for the keys of a partition. False by default.
   */
  lua(time: string, isPartition?: boolean): string;
  /** Lua of the script, without constants and before it is shortened. */
  readonly source: { readonly prelude: string; readonly functions: string; readonly main: string };
  /** Returns the arguments of a call. The first argument of a queue's script is empty: see the prelude. */
  write(args: ValuesOf<Args>, ...rows: RowsOf<Row>): string[];
  /** Returns the value of a reply. */
  read(sent: unknown): R;
}

/** Rows of a call, if the script has rows. */
type RowsOf<Row> = [keyof Row] extends [never] ? [] : [rows: readonly ValuesOf<Row>[]];

/**
 * Declares a script.
 *
 * @throws {TypeError} If the script's Lua does not use one of the fields, or loops over fields that rows don't have.
 */
export function declareScript<Args extends Arguments, R, Row extends Arguments = Record<never, never>>(
  { retry = "always", adds = false, prelude, functions = "", args, rows = {} as Row, reply, body }: Declaration<
    Args,
    Row,
    R
  >,
): DeclaredScript<Args, Row, R> {
  const fields = Object.entries(args);
  const ofRow = Object.entries(rows);
  const isMarked = retry === "marked";
  // The first argument of a queue's script is the time since which the caller knows the queue: see prelude.lua.
  const before = prelude === undefined ? 1 : 0;
  const first = before + fields.length + 1;
  const begin = [
    locals(fields.map(([name, field], i) => [luaName(name), field.readInLua(`ARGV[${before + i + 1}]`)])),
    isMarked ? "local resent = ARGV[#ARGV] == '1'" : "",
    reply.begin ?? "",
  ].join("\n");
  requireUses(body, [...[...fields, ...ofRow].map(([name]) => luaName(name)), ...reply.uses ?? []]);
  const loops = (text: string) =>
    text.replace(/\bfor ([\w,\s]+) in rows\(\) do\b/g, (_loop, names: string) => {
      const used = names.split(/,\s+/).map((name) => [name, valueInRow(name, ofRow)] as const);
      const breaks = names.replace(/[^\n]/g, ""); // which keep the numbers of later lines
      return `${breaks}for row = ${first}, ${isMarked ? "#ARGV - 1" : "#ARGV"}, ${ofRow.length} do ${locals(used)}`;
    });
  const main = loops(`${begin}\n${body}\n${reply.end ?? ""}\n`);
  const source = { prelude: prelude ?? lua("prelude"), functions, main };
  const oneRow = first - 1 + ofRow.length;
  return {
    retry,
    source,
    lua(time, isPartition = false) {
      const values = `${constants}local IS_PARTITION = ${isPartition}\nlocal ONE_ROW = ${oneRow}\n`;
      const text = shorten([values, source.prelude, functions, main].join("\n"));
      return `#!lua${adds ? "" : " flags=allow-oom"}\n${text.replace(SERVER_TIME, () => time)}`;
    },
    write(values, ...[rows = []]: [rows?: readonly ValuesOf<Row>[]]) {
      const sent: string[] = before === 1 ? [""] : [];
      for (const [name, field] of fields) sent.push(field.write(values[name]));
      for (const row of rows) {
        for (let i = 0; i < ofRow.length; i++) sent.push(ofRow[i]![1].write(row[ofRow[i]![0]]));
      }
      return sent;
    },
    read: (sent) => reply.read(sent),
  };
}

/** Returns the Lua expression for a field of a row. */
function valueInRow(variable: string, fields: readonly (readonly [name: string, field: Argument<unknown>])[]): string {
  const column = fields.findIndex(([name]) => luaName(name) === variable);
  if (column < 0) throw new TypeError(`Cannot declare script: its rows have no field '${variable}'`);
  return fields[column]![1].readInLua(`ARGV[row + ${column}]`);
}

/** Refuses a script that doesn't use one of its fields, because no compiler checks the Lua. */
function requireUses(lua: string, names: readonly string[]): void {
  const code = lua.replace(/--.*/g, "");
  for (const name of names) {
    const isUsed = new RegExp(`${name.startsWith(".") ? "\\" : "\\b"}${name}\\b`).test(code);
    if (!isUsed) throw new TypeError(`Cannot declare script: its Lua does not use '${name}'`);
  }
}

function locals(variables: readonly (readonly [name: string, value: string])[]): string {
  if (variables.length === 0) return "";
  return `local ${variables.map(([name]) => name).join(", ")} = ${variables.map(([, value]) => value).join(", ")}`;
}
