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
  /** Sets whether integers are read as bigints, in `bun:sqlite` and `better-sqlite3`. */
  safeIntegers?(enabled: boolean): unknown;
}

/**
 * Connection to a database: a `DatabaseSync` of `node:sqlite`, or a `Database` of `bun:sqlite` or `better-sqlite3`.
 */
export interface SqliteConnection {
  /** Prepares a statement. */
  prepare(sql: string): SqliteStatement;
  /** Whether a transaction is open, in `node:sqlite`. */
  readonly isTransaction?: boolean;
  /** Whether a transaction is open, in `bun:sqlite` and `better-sqlite3`. */
  readonly inTransaction?: boolean;
}

/** Statements of a connection, each prepared when it is first used. */
export class Statements {
  readonly #connection: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return (this.#prepare(sql).get(...values) ?? undefined) as Row | undefined; // `bun:sqlite` returns null
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** Runs a statement. Returns the number of changed rows, and the id of the last inserted row. */
  run(sql: string, ...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#prepare(sql).run(...values);
  }

  #prepare(sql: string): SqliteStatement {
    const prepared = this.#prepared.get(sql);
    if (prepared !== undefined) return prepared;
    // SQLite plans a statement again, in about 40 µs, each time that a parameter is bound which is a whole limit.
    const statement = this.#connection.prepare(sql.replaceAll("LIMIT ?", "LIMIT ? + 0"));
    // The connection may be a user's, with options that give rows another form.
    statement.setReadBigInts?.(false);
    statement.setReturnArrays?.(false);
    statement.safeIntegers?.(false);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
