import { existsSync } from "node:fs";
import { UsageError } from "../system/usage_error.ts";

/** File with queues, as the option `--queue` names it. */
export interface QueueFile {
  readonly path: string;
  /** Name of the queue in the file; `undefined` for the only queue of the file. */
  readonly name: string | undefined;
}

/** Endings of files with queues, for messages. */
export const FILE_ENDINGS = ".db, .sqlite or .sqlite3";

/** Ending of a name that is meant as a file, although no file with queues ends so. */
const OTHER_ENDING = /\.(?:csv|dat|data|db3|jsonl?|list|log|queue|s3db|sqlite2|toml|tsv|txt|ya?ml)$/i;

/** Path that ends like the file of a database, possibly followed by the name of a queue. */
const IN_FILE = /^(.+?\.(?:db|sqlite|sqlite3))(?:#(.*))?$/s;

/**
 * Returns the file that a value of `--queue` names, such as `jobs.db` or `jobs.db#images`; `undefined` if the value is
 * the name of a queue.
 *
 * @throws {UsageError} If there is no name after `#`.
 */
export function queueFileOf(queue: string): QueueFile | undefined {
  const [, path, name] = IN_FILE.exec(queue) ?? [];
  if (name === "") throw new UsageError(`Cannot use queue '${queue}': write its name after #, or leave out #`);
  return path === undefined ? undefined : { path, name };
}

/** Reports whether a name of a queue on a server is meant as a file: the file exists, or the name ends like one. */
export function isMeantAsFile(queue: string): boolean {
  return OTHER_ENDING.test(queue) || existsSync(queue);
}
