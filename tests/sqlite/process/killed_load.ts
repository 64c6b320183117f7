/**
 * Process that runs a load on a file, and writes its history, until it is killed at a statement. Its argument is JSON:
 * {@linkcode LoadArguments}.
 */

import { interceptStatements } from "../faults/statements.ts"; // first, because it changes what other modules import
import { openSync, writeSync } from "node:fs";
import process from "node:process";
import { type Load, LoadRun } from "../../redis/history/load.ts";
import { FileStore } from "../faults/file_store.ts";

/** Arguments of the script. */
export interface LoadArguments {
  readonly path: string;
  /** File of the history. */
  readonly history: string;
  readonly load: Load;
  /** Number of statements that write before the one at which the process is killed. By default, nothing kills it. */
  readonly statements?: number;
  /** Whether the process is killed after the statement instead of before it. */
  readonly isAfter?: boolean;
}

const { path, history, load, statements, isAfter = false } = JSON.parse(process.argv[2]!) as LoadArguments;

let left = statements ?? Infinity;
interceptStatements((_sql, _connection, run) => {
  const isHere = left-- === 0;
  if (isHere && !isAfter) process.kill(process.pid, "SIGKILL");
  const result = run();
  if (isHere) process.kill(process.pid, "SIGKILL");
  return result;
});
const file = openSync(history, "a");
const store = new FileStore(path, load.engines ?? 1);
const run = new LoadRun("queue", load);
run.begin(store, (line) => void writeSync(file, `${JSON.stringify(line)}\n`));
await run.work();
await store.close();
