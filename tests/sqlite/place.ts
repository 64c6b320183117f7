/** Places in files for the suites of queues that processes share. */

import { createSqliteQueue, type SqliteQueue, sqliteQueueMetrics, sqliteQueues } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import type { RemotePlace, RemoteTest } from "../contracts/remote_place.ts";
import { fileTest, type Folder, keepAlive } from "./files.ts";

/** Returns the place in the file of a folder. */
export function sqlitePlace({ path, thread }: Folder): RemotePlace {
  return {
    product: "SQLite",
    open: (options) => createSqliteQueue({ path, thread, ...options }),
    openFrom: (config, name) => sqliteQueues(config, { path, thread }).queue(name),
    makeOlder(name, items, ms) {
      const database = new DatabaseSync(path, { timeout: 5000 });
      const update = database.prepare(
        "UPDATE items SET place = place - ? WHERE key = ? AND queue = (SELECT id FROM queues WHERE name = ?)",
      );
      for (const item of items) update.run(ms * 1000, item, name);
      database.close();
      return Promise.resolve();
    },
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
