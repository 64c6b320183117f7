type Value = number | string | null;

/** Statement of a {@linkcode SqliteConnection}. */
export interface SqliteStatement {
  /** Runs the statement. Returns its first row, if there is one. */
  get(...values: (number | string | null)[]): unknown;
  /** Runs the statement. Returns its rows. */
  all(...values: (number | string | null)[]): unknown[];
  /** Runs the statement. Returns the number of changed rows, and the id of the last inserted row. */
  run(...values: (number | string | null)[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  /** Sets whether integers are read as bigints, in `node:sqlite`. */
  setReadBigInts?(enabled: boolean): unknown;
  /** Sets whether rows are arrays, in `node:sqlite`. */
  setReturnArrays?(enabled: boolean): unknown;
  /** Sets whether integers are read as bigints, in `bun:sqlite`. */
  safeIntegers?(enabled: boolean): unknown;
}

/**
 * Connection to a database: a `DatabaseSync` of `node:sqlite`, or a `Database` of `bun:sqlite`.
 */
export interface SqliteConnection {
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement;
  /** Whether a transaction is open, in `node:sqlite`. */
  readonly isTransaction?: boolean;
  /** Whether a transaction is open, in `bun:sqlite`. */
  readonly inTransaction?: boolean;
}

/** Columns with texts of users. */
const TEXTS: readonly string[] = ["key", "name", "grp", "trace", "error", "probe"];

/** Prepared statement, and the columns of its rows that are in `TEXTS`, once it has returned a row. */
interface Prepared {
  readonly statement: SqliteStatement;
  texts: readonly string[] | undefined;
}

/**
 * Statements of a connection, each prepared when it is first used. Texts may contain NUL, which is replaced in the
 * database, because Deno and Node 22 read a text only up to a NUL.
 */
export class Statements {
  readonly #connection: SqliteConnection;
  readonly #prepared = new Map<string, Prepared>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    const prepared = this.#prepare(sql);
    const row = prepared.statement.get(...written(values)) ?? undefined; // `bun:sqlite` returns null
    return row === undefined ? undefined : read<Row>(prepared, row);
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    const prepared = this.#prepare(sql);
    return prepared.statement.all(...written(values)).map((row) => read<Row>(prepared, row));
  }

  /** Runs a statement. Returns the number of changed rows, and the id of the last inserted row. */
  run(sql: string, ...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#prepare(sql).statement.run(...written(values));
  }

  #prepare(sql: string): Prepared {
    const found = this.#prepared.get(sql);
    if (found !== undefined) return found;
    // If a parameter alone is the limit of a statement, SQLite plans the statement again at each call, which takes
    // about 40 µs.
    const statement = this.#connection.prepare(sql.replaceAll("LIMIT ?", "LIMIT ? + 0"));
    // The connection may be a user's, with options that give rows another form.
    statement.setReadBigInts?.(false);
    statement.setReturnArrays?.(false);
    statement.safeIntegers?.(false);
    const prepared = { statement, texts: undefined };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** Returns values as they are stored: a NUL is written as two U+0001, and U+0001 as U+0001 and U+0002. */
function written(values: Value[]): Value[] {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== "string" || !value.includes("\0") && !value.includes("\x01")) continue;
    values[i] = value.replaceAll("\x01", "\x01\x02").replaceAll("\0", "\x01\x01");
  }
  return values;
}

/** Returns a row with its texts as they were before `written`. */
function read<Row>(prepared: Prepared, row: unknown): Row {
  const columns = row as Record<string, unknown>;
  prepared.texts ??= TEXTS.filter((column) => column in columns);
  for (const column of prepared.texts) {
    const value = columns[column];
    if (typeof value !== "string" || !value.includes("\x01")) continue;
    columns[column] = value.replaceAll("\x01\x01", "\0").replaceAll("\x01\x02", "\x01");
  }
  return row as Row;
}
