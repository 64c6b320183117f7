import { limiters } from "@workqueue/core";
import type { Engine } from "@workqueue/engine";
import { Database } from "../../../packages/sqlite/database/database.ts";
import { SqliteEngine } from "../../../packages/sqlite/engine.ts";
import { planLimiter } from "../../../packages/engine/limiter_plan.ts";
import type { LoadSettings, LoadStore } from "../../redis/history/load.ts";

const LIMITER = { type: "exponential", baseDelay: "10ms", maxDelay: "1s" } as const;

/** File on which loads run. Its engines use several connections by turns, as those of several processes do. */
export class FileStore implements LoadStore {
  readonly #path: string;
  readonly #count: number;
  readonly #databases: Database[] = [];
  #opened = 0;

  /** @param connections The number of connections. */
  constructor(path: string, connections: number) {
    this.#path = path;
    this.#count = connections;
  }

  engine(name: string, clock: () => number, settings: LoadSettings): Engine {
    const database = this.#databases[this.#opened++ % this.#count] ?? this.#open();
    return new SqliteEngine(database, {
      name,
      clock,
      maxStalls: 5,
      replaces: false,
      folds: false,
      hasItems: false,
      durability: "full",
      callTimeout: 5000,
      limiter: planLimiter("test", limiters.describe(LIMITER)),
      ...settings,
    });
  }

  #open(): Database {
    const database = new Database(this.#path);
    this.#databases.push(database);
    return database;
  }

  clear(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    for (const database of this.#databases.splice(0)) await database.close();
  }
}
