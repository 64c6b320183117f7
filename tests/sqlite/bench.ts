/** Test bench for the engine on SQLite: each test has its own file, and sets the clock. */

import { assertEquals } from "@std/assert";
import { type DisciplineConfig, disciplines, limiters } from "@workqueue/core";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { Database } from "../../packages/sqlite/database/database.ts";
import { SqliteEngine, type SqliteEngineSettings } from "../../packages/sqlite/engine.ts";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { EngineBench, LEASE } from "../contracts/engine_bench.ts";

import { MEMORY } from "./files.ts";
import { unsound } from "./sound.ts";

export { keysOf } from "../contracts/engine_bench.ts";

const LIMITER = { type: "exponential", baseDelay: "10ms", maxDelay: "1s" } as const;

/** Queue in a file of its own. */
export class Bench extends EngineBench implements AsyncDisposable {
  readonly engine: SqliteEngine;
  readonly #folder = mkdtempSync(join(MEMORY, "workqueue-sqlite-"));
  readonly path = join(this.#folder, "queue.db");
  /** Connections of the engines, that of `engine` first. */
  readonly databases: Database[] = [];

  constructor(settings: Partial<SqliteEngineSettings> = {}) {
    super();
    this.engine = this.open(settings);
  }

  /** Opens another engine for the queue, with a connection of its own, as another process has. */
  open(settings: Partial<SqliteEngineSettings>): SqliteEngine {
    const database = new Database(this.path);
    this.databases.push(database);
    return new SqliteEngine(database, {
      name: "queue",
      leaseDuration: LEASE,
      maxStalls: 5,
      replaces: false,
      folds: false,
      hasItems: false,
      durability: "full",
      callTimeout: 5000,
      limiter: planLimiter("test", limiters.describe(LIMITER)),
      clock: () => this.time,
      ...settings,
    });
  }

  order(discipline: DisciplineConfig, settings: Partial<SqliteEngineSettings> = {}): SqliteEngine {
    return this.open({ ...settings, discipline: planDiscipline("test", disciplines.describe(discipline)) });
  }

  async stallsOf(key: string): Promise<number> {
    const row = await this.databases[0]!.run("normal", 5000, ({ sql }) => {
      return sql.get<{ stalls: number }>("SELECT stalls FROM items WHERE queue = 1 AND key = ?", key);
    });
    return row?.stalls ?? 0;
  }

  contents(): Promise<unknown> {
    return this.databases[0]!.run("normal", 5000, ({ sql }) => {
      const tables = sql.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
      return tables.map(({ name }) => [name, sql.all(`SELECT * FROM "${name}"`)]);
    });
  }

  // deno-lint-ignore require-await -- an error is a rejection
  async storeDiscipline(plan: string): Promise<void> {
    using database = new DatabaseSync(this.path); // another connection, so that the engine reads the state again
    database.prepare("UPDATE queues SET state = json_set(state, '$.discipline', ?)").run(plan);
  }

  /** Closes the file, and checks its tables. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const database of this.databases) await database.close();
    assertEquals(unsound(this.path), []);
    rmSync(this.#folder, { recursive: true });
  }
}

/** Registers a test that has its own queue. */
export function engineTest(
  name: string,
  run: (bench: Bench) => Promise<void>,
  settings: Partial<SqliteEngineSettings> = {},
): void {
  Deno.test(`engine on SQLite: ${name}`, async () => {
    await using bench = new Bench(settings);
    await run(bench);
  });
}
