/**
 * Fields that TypeScript and scripts exchange. A script declares its fields once, by name. The TypeScript and Lua code
 * that sends and reads the fields is derived from this declaration. Only the values are sent, in the order of the
 * declaration, without names.
 *
 * Durations are in milliseconds in TypeScript, where their names end in `Ms`, and in microseconds in Lua, where their
 * names end in `Us`.
 *
 * @module
 */

/** Value that TypeScript sends to a script. */
export interface Argument<T> {
  /** Returns the text to send. */
  write(value: T): string;
  /** Returns a Lua expression for the value. `sent` is a Lua expression for the text that was sent. */
  readInLua(sent: string): string;
}

/** Value that a script sends to TypeScript. */
export interface ReplyField<T> {
  /** Converts a part of the reply to the field's value. */
  read(sent: unknown): T;
  /** Whether Lua may omit the field, either in all rows or in none. */
  readonly isOptional?: boolean;
  /** Returns Lua that declares the field's variable before the script's body. By default, the body declares it. */
  declareInLua?(variable: string): string;
  /** Returns the Lua expression whose value is sent. By default, the variable itself is sent. */
  writeInLua?(variable: string): string;
  /** Returns the names that the body must use. By default, it must use only the variable. */
  usesInLua?(variable: string): string[];
}

/** Reply of a script, and the Lua that the reply requires before and after the script's body. */
export interface Reply<T> {
  read(sent: unknown): T;
  readonly begin?: string;
  readonly end?: string;
  /** Names that the body must use. */
  readonly uses?: readonly string[];
}

export type Arguments = Readonly<Record<string, Argument<unknown>>>;
export type ReplyFields = Readonly<Record<string, ReplyField<unknown>>>;

/** Values of fields, by name. */
export type ValuesOf<F> = {
  readonly [Name in keyof F]: F[Name] extends Argument<infer T> ? T : F[Name] extends ReplyField<infer T> ? T : never;
};

type Field<T> = Argument<T> & ReplyField<T>;

export const TEXT: Field<string> = {
  write: (value) => value,
  readInLua: (sent) => sent,
  read: (sent) => sent as string,
};

export const NUMBER: Field<number> = {
  write: (value) => `${value}`,
  readInLua: (sent) => `tonumber(${sent})`,
  read: (sent) => sent as number,
};

/** Number that need not be whole. A script must send it as text, because the server cuts off the digits of numbers. */
export const DECIMAL: Field<number> = { ...NUMBER, read: (sent) => Number(sent) };

/** Boolean. In Lua, an argument is `true` or `false`, and a value in a reply is 1 or 0. */
export const FLAG: Field<boolean> = {
  write: (value) => value ? "1" : "0",
  readInLua: (sent) => `${sent} == '1'`,
  read: (sent) => sent === 1,
};

/** Longest duration, in microseconds: about 285 years. Larger numbers are not exact. */
const FOREVER = 2 ** 53 - 1;

/** Duration in milliseconds. The name of the field must end in `Ms`. */
export const DURATION: Field<number> = {
  write: (ms) => `${Math.max(Math.min(Math.round(ms * 1000), FOREVER), 0)}`,
  readInLua: (sent) => `tonumber(${sent})`,
  read: (us) => us as number / 1000,
};

/**
 * Value that may be missing. In Lua, a missing argument is `nil`, and a missing reply is `nil` or `false`. In rows, a
 * missing value is `false`, or the field's list is empty.
 */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return {
    write: (value) => value === undefined ? "" : field.write(value),
    readInLua: (sent) => `${sent} ~= '' and ${field.readInLua(sent)} or nil`,
    read: (sent) => sent === null || sent === undefined ? undefined : field.read(sent),
    isOptional: true,
    writeInLua: (variable) => `${variable} or false`,
  };
}

/** List of values. */
export function list<T>(field: Omit<ReplyField<T>, "declareInLua" | "writeInLua">): ReplyField<T[]> {
  return { read: (sent) => (sent as unknown[]).map((value) => field.read(value)) };
}

/**
 * Numbers from the `meta` hash. `names` contains the name of each number in the hash. The script's body doesn't set
 * these numbers.
 */
export function metaNumbers<Name extends string>(
  names: Readonly<Record<Name, string>>,
): ReplyField<Record<Name, number>> {
  const entries = Object.entries<string>(names);
  return {
    read: (sent) => {
      const numbers = entries.map(([name], i) => [name, Number((sent as unknown[])[i] ?? 0)]);
      return Object.fromEntries(numbers);
    },
    writeInLua: () => `redis.call('HMGET', q.meta, ${entries.map(([, name]) => `'${name}'`).join(", ")})`,
    usesInLua: () => [],
  };
}

/**
 * Rows. In Lua, rows are stored as columns: the field's variable has one list for each column. The script's body fills
 * or replaces these lists.
 */
export function rows<F extends ReplyFields>(fields: F): ReplyField<ValuesOf<F>[]> {
  const names = Object.keys(fields);
  // Each row starts as a copy of `blank`, because copying is fast.
  const blank: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, undefined]));
  const columnsOf = (column: (name: string) => string) => `{ ${names.map(luaName).map(column).join(", ")} }`;
  return {
    declareInLua: (variable) => `local ${variable} = ${columnsOf((name) => `${name} = {}`)}`,
    writeInLua: (variable) => columnsOf((name) => `${variable}.${name}`),
    usesInLua: (variable) => [variable, ...names.map((name) => `.${luaName(name)}`)],
    read(sent) {
      const columns = sent as unknown[][];
      const all = Array.from(columns[0] ?? [], () => ({ ...blank }));
      for (const [i, name] of names.entries()) {
        const field = fields[name]!;
        const column = columns[i] ?? [];
        if (column.length === 0 && field.isOptional) continue;
        if (column.length !== all.length) {
          throw new Error(`'${name}' has ${column.length} values for ${all.length} rows`);
        }
        for (let row = 0; row < column.length; row++) all[row]![name] = field.read(column[row]);
      }
      return all as ValuesOf<F>[];
    },
  };
}

/**
 * Reply with several fields. The body of the script sets a variable for each field, except for fields that declare
 * their variables themselves. The body returns nothing.
 */
export function fields<F extends ReplyFields>(all: F): Reply<ValuesOf<F>> {
  const entries = Object.entries(all);
  const inLua = entries.map(([name, field]) => [luaName(name), field] as const);
  return {
    begin: inLua.map(([variable, field]) => field.declareInLua?.(variable) ?? "").join("\n"),
    end: `return q.reply({ ${inLua.map(([variable, field]) => field.writeInLua?.(variable) ?? variable).join(", ")} })`,
    uses: inLua.flatMap(([variable, field]) => field.usesInLua?.(variable) ?? [variable]),
    read(sent) {
      const replied = sent as unknown[];
      if (replied.length !== entries.length) {
        throw new Error(`'${entries[replied.length]?.[0]}' was not replied`); // in Lua, its value was nil
      }
      const values: Record<string, unknown> = {};
      for (let i = 0; i < entries.length; i++) values[entries[i]![0]] = entries[i]![1].read(replied[i]);
      return values as ValuesOf<F>;
    },
  };
}

/** Empty reply. The body returns nothing. */
export const NOTHING: Reply<void> = { read() {}, end: "return q.reply(0)" };

/** Returns the name of a field in Lua. */
export function luaName(name: string): string {
  return name.replace(/Ms$/, "Us");
}
