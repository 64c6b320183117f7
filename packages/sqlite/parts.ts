import type { Engine, ThrottleStore } from "@workqueue/engine";
import type { Database } from "./database/database.ts";
import { openDatabase } from "./database/open_database.ts";
import { SqliteEngine, type SqliteEngineSettings } from "./engine.ts";
import { SqliteThrottleStore } from "./throttle_store.ts";

/** Parts of a queue that use its file. */
export interface Parts {
  readonly engine: Engine;
  readonly throttleStore: ThrottleStore;
}

/**
 * Opens a file in this thread now, unless another connection has locked it.
 *
 * @throws {Error} If this runtime has no SQLite, or the file can't be opened.
 */
export function openPartsNow(path: string, settings: SqliteEngineSettings): Parts {
  const database = openDatabase(path);
  try {
    database.open();
  } catch (error) {
    void database.close();
    throw error;
  }
  return partsOf(database, settings);
}

/** Returns the parts of a queue whose first call opens the file, in this thread. */
export function openParts(path: string, settings: SqliteEngineSettings): Parts {
  return partsOf(openDatabase(path), settings);
}

function partsOf(database: Database, settings: SqliteEngineSettings): Parts {
  const throttleStore = new SqliteThrottleStore(database, settings.callTimeout, settings.clock);
  return { engine: new SqliteEngine(database, settings), throttleStore };
}

/** Returns the time in microseconds since 1970. All processes of a machine share this clock. */
export function clock(): number {
  return Date.now() * 1000;
}
