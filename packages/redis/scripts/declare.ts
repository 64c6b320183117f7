import type { Retry } from "../connection/connection.ts";
import { type Arguments, luaName, type Reply, type ValuesOf } from "./fields.ts";
import { prelude as queuePrelude } from "./prelude.ts";
import { shorten } from "./shorten.ts";

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
   * Returns the Lua with which the script begins. The arguments are as for `lua` of the script.
   *
   * @default {the prelude of a queue's scripts}
   */
  readonly prelude?: (time: string, isPartition: boolean) => string;
  /** Lua functions that the script's body needs. */
  readonly functions?: string;
  readonly args: Args;
  /** Fields of each row. The rows follow the arguments. */
  readonly rows?: Row;
  readonly reply: Reply<R>;
  /**
   * Lua body of the script. The arguments are local variables. If `retry` is `"marked"`, the variable `resent` is true
   * if the script may have run before. `eachRow` returns Lua that runs the given Lua for each row, with the row's
   * fields as local variables.
   */
  readonly body: string | ((eachRow: (lua: string) => string) => string);
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
 * @throws {TypeError} If the script's Lua does not use one of the fields.
 */
export function declareScript<Args extends Arguments, R, Row extends Arguments = Record<never, never>>(
  { retry = "always", adds = false, prelude = queuePrelude, functions = "", args, rows, reply, body }: Declaration<
    Args,
    Row,
    R
  >,
): DeclaredScript<Args, Row, R> {
  const fields = Object.entries(args);
  const ofRow = Object.entries(rows ?? {});
  const isMarked = retry === "marked";
  // The first argument of a queue's script is the time since which the caller knows the queue: see the prelude.
  const before = prelude === queuePrelude ? 1 : 0;
  const first = before + fields.length + 1;
  const last = isMarked ? "#ARGV - 1" : "#ARGV";
  const eachRow = (lua: string) => {
    const columns = ofRow.map(([name, field], i) => [name, field.readInLua(`ARGV[row + ${i}]`)] as const);
    const used = columns.filter(([name]) => new RegExp(`\\b${luaName(name)}\\b`).test(lua));
    return `for row = ${first}, ${last}, ${ofRow.length} do
  ${locals(used)}
  ${lua}
end`;
  };
  const begin = [
    locals(fields.map(([name, field], i) => [name, field.readInLua(`ARGV[${before + i + 1}]`)])),
    isMarked ? "local resent = ARGV[#ARGV] == '1'" : "",
    reply.begin ?? "",
  ].join("\n");
  const bodyWith = (eachRow: (lua: string) => string) => typeof body === "string" ? body : body(eachRow);
  requireUses(bodyWith((lua) => lua), [...[...fields, ...ofRow].map(([name]) => luaName(name)), ...reply.uses ?? []]);
  const text = `${functions}\n${begin}\n${bodyWith(eachRow)}\n${reply.end ?? ""}`;
  return {
    retry,
    lua(time, isPartition = false) {
      return `#!lua${adds ? "" : " flags=allow-oom"}\n${shorten(`${prelude(time, isPartition)}\n${text}\n`)}`;
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

/** Refuses a script that doesn't use one of its fields, because no compiler checks the Lua. */
function requireUses(lua: string, names: readonly string[]): void {
  for (const name of names) {
    const isUsed = new RegExp(`${name.startsWith(".") ? "\\" : "\\b"}${name}\\b`).test(lua);
    if (!isUsed) throw new TypeError(`Cannot declare script: its Lua does not use '${name}'`);
  }
}

function locals(variables: readonly (readonly [name: string, value: string])[]): string {
  if (variables.length === 0) return "";
  return `local ${variables.map(([name]) => luaName(name)).join(", ")} = ${
    variables.map(([, value]) => value).join(", ")
  }`;
}
