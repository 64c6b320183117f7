import { hasMethods, invalidArgument } from "@workqueue/core/internal";
import type { RankedEntry } from "@workqueue/engine";
import { runWithin } from "./database/run_within.ts";
import type { SqliteConnection } from "./database/statements.ts";
import { addEntries, type AddSettings } from "./store/adds.ts";
import { queueIn } from "./store/queue_in.ts";

/** Queue to which a user's connection adds. */
export interface OutboxQueue extends AddSettings {
  readonly name: string;
  /** Real path of the file. */
  readonly path: string;
  /** Returns the time in microseconds since 1970. */
  readonly clock: () => number;
}

/**
 * Adds entries in the open transaction of a user's connection.
 *
 * @throws {TypeError} If `connection` is not a connection.
 * @throws {Error} If no transaction is open, if the connection is to another file or comes from another copy of SQLite,
 * or if SQLite fails.
 */
export function addWithin(
  action: string,
  queue: OutboxQueue,
  connection: SqliteConnection,
  entries: readonly RankedEntry[],
): void {
  if (!hasMethods(connection, "prepare")) {
    const words = "must be a connection to the file, such as a DatabaseSync of node:sqlite";
    throw invalidArgument(action, "connection", words, connection);
  }
  runWithin(action, queue.path, connection, (batch) => {
    const found = queueIn(batch, queue.name, queue.clock);
    addEntries(found, entries, queue);
    found.endCall();
  });
}
