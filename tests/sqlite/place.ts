/** Places in files for the suites of queues that processes share. */

import { createSqliteQueue, type SqliteQueue, sqliteQueueMetrics, sqliteQueues } from "@workqueue/sqlite";
import type { RemotePlace, RemoteTest } from "../contracts/remote_place.ts";
import { fileTest, type Folder, keepAlive } from "./files.ts";

/** Returns the place in the file of a folder. */
export function sqlitePlace({ path, thread }: Folder): RemotePlace {
  return {
    product: "SQLite",
    open: (options) => createSqliteQueue({ path, thread, ...options }),
    openFrom: (config, name) => sqliteQueues(config, { path, thread }).queue(name),
    measure: (queue, metrics, options) => sqliteQueueMetrics(queue as SqliteQueue<never>, metrics, options),
  };
}

/** Registers a test with queues in a file of its own, twice: the database is in the same thread, and in another. */
export const inFile: RemoteTest = (name, run) => {
  fileTest(name, async (folder) => {
    using _alive = keepAlive();
    await run(sqlitePlace(folder));
  });
};
