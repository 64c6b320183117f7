/** Interception of the statements that write, on all connections of this process that are opened after the import. */

import { DatabaseSync, type StatementSync } from "node:sqlite";

/** Function that is called instead of a statement that writes. `run` runs the statement. */
export type Intercept = (sql: string, connection: DatabaseSync, run: () => unknown) => unknown;

const READS = /^\s*(SELECT|PRAGMA (?!wal_checkpoint|journal_mode|user_version =))/;

const { prepare, exec } = DatabaseSync.prototype;
let intercept: Intercept | undefined;

DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string): StatementSync {
  const statement = prepare.call(this, sql);
  if (READS.test(sql)) return statement;
  const run = (method: "get" | "all" | "run") => (...values: never[]) => {
    const call = () => statement[method](...values);
    return intercept === undefined ? call() : intercept(sql, this, call);
  };
  return { get: run("get"), all: run("all"), run: run("run") } as StatementSync;
};

DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  if (intercept === undefined) return exec.call(this, sql);
  for (const one of sql.replaceAll(/--.*$/gm, "").split(";").filter((text) => text.trim() !== "")) {
    if (READS.test(one)) exec.call(this, one);
    else intercept(one.trim(), this, () => exec.call(this, one));
  }
};

/** Intercepts statements, until the returned object is disposed. */
export function interceptStatements(each: Intercept): Disposable {
  intercept = each;
  return { [Symbol.dispose]: () => void (intercept = undefined) };
}
