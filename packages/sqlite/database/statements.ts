import type { DatabaseSync, StatementSync } from "node:sqlite";

type Value = number | string | null;

/** Statements of a database, each prepared when it is first used. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: readonly Value[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** Runs a statement. Returns the number of changed rows, and the id of the last inserted row. */
  run(sql: string, ...values: readonly Value[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    return this.#prepare(sql).run(...values);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) this.#prepared.set(sql, statement = this.#database.prepare(sql));
    return statement;
  }
}
