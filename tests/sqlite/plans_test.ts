/** Tests that statements of the engine don't read all rows of a queue, however many there are. */

import { assert, assertEquals } from "@std/assert";
import { disciplines } from "@workqueue/core";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { planDiscipline } from "../../packages/engine/discipline_plan.ts";
import { SCHEMA } from "../../packages/sqlite/database/schema.ts";
import { type EngineTest, keysOf } from "../contracts/engine_bench.ts";
import { engineGivenUpSuite } from "../contracts/engine_given_up_suite.ts";
import { engineOrdersSuite } from "../contracts/engine_orders_suite.ts";
import { engineRetryBudgetSuite } from "../contracts/engine_retry_budget_suite.ts";
import { engineSuite } from "../contracts/engine_suite.ts";
import { Bench } from "./bench.ts";

/** Tables with a row for each process of the machine, or for each machine. */
const SMALL: ReadonlySet<string> = new Set(["owners", "idle", "messages", "machines"]);

/** Statements that read many rows, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "SELECT id FROM owners WHERE queue = ? AND ends IS NULL ORDER BY expired LIMIT 1": "few processes have keys",
  "DELETE FROM groups WHERE queue = ?": "a new discipline begins with no groups",
  "DELETE FROM weights WHERE queue = ?": "a new discipline has its own weights",
  "DELETE FROM redrive_keys WHERE queue = ?": "the end of a redrive deletes what its begin has listed",
  "SELECT 1 FROM sqlite_schema WHERE name = 'queues'": "few tables are in a file",
  "SELECT * FROM items WHERE queue = ? AND line IN (1, 2) ORDER BY place LIMIT ? + 0": "only keys that stalled",
};

const FAIR = { type: "fair", separator: "/" } as const;

/** Returns the statements that the suites of engines make. */
async function recordStatements(): Promise<Set<string>> {
  const found = new Set<string>();
  let isRecording = false;
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    if (isRecording) found.add(sql.replaceAll(/\s+/g, " ").trim());
    return prepare.call(this, sql);
  };
  try {
    const tests: Parameters<EngineTest>[] = [];
    for (const suite of [engineSuite, engineOrdersSuite, engineGivenUpSuite, engineRetryBudgetSuite]) {
      suite((...test) => tests.push(test));
    }
    for (const [, run, settings] of tests) {
      await using bench = new Bench(settings);
      isRecording = true;
      await run(bench);
      isRecording = false; // the bench checks the tables in the end
    }
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  return found;
}

/** Returns why a step of a plan may read many rows; `undefined` if it doesn't. */
function problemOf(step: string, sql: string): string | undefined {
  const [, verb, table, index] = /^(SCAN|SEARCH) (\w+)(?: .*?\((.*)\))?/.exec(step) ?? [];
  if (table !== undefined && SMALL.has(table)) return undefined;
  if (verb === "SCAN" && table !== "CONSTANT") return step;
  if (step.startsWith("USE TEMP B-TREE")) return step;
  // All rows of the queue, unless a partial index has few of them, or the statement ends after some.
  const isWhole = index === "queue=?" && !/ LIMIT /.test(sql);
  const isKeyed = /USING (PRIMARY KEY|INDEX sqlite_autoindex)/.test(step);
  return isWhole || index === "queue=?" && isKeyed ? step : undefined;
}

Deno.test("SQLite: no statement reads all keys, groups or failures of a queue", async () => {
  const statements = await recordStatements();
  using database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  const problems: string[] = [];
  let [checked, allowed] = [0, 0];
  for (const sql of statements) {
    if (!/^(SELECT|INSERT|UPDATE|DELETE)/.test(sql)) continue;
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    const found = plan.flatMap(({ detail }) => problemOf(detail, sql) ?? []);
    checked++;
    if (found.length > 0 && sql in ALLOWED) allowed++;
    else if (found.length > 0) problems.push(`${sql}: ${found.join(", ")}`);
  }
  assertEquals(problems, []);
  assert(checked > 80, `${checked} statements`);
  assertEquals(allowed, Object.keys(ALLOWED).length);
});

Deno.test("SQLite: with many groups, lists and hand-outs read few more keys than they return", async () => {
  let read = 0;
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string) {
    const statement = prepare.call(this, sql);
    if (!sql.startsWith("SELECT * FROM items")) return statement;
    const all = statement.all.bind(statement) as (...values: unknown[]) => Record<string, SQLOutputValue>[];
    statement.all = (...values: unknown[]) => {
      const rows = all(...values);
      read += rows.length;
      return rows;
    };
    return statement;
  };
  try {
    await using bench = new Bench({ discipline: planDiscipline("test", disciplines.describe(FAIR)) });
    const keys = Array.from({ length: 4000 }, (_, i) => `group ${i % 200}/${i}`);
    await bench.add(...keys);
    read = 0;
    const { readyItems } = await bench.engine.snapshot(500);
    assertEquals(readyItems.map(({ key }) => key), keys.slice(0, 500)); // each group in turn
    assert(read <= 500, `a list of 500 keys reads ${read}`);
    read = 0;
    assertEquals(keysOf(await bench.take("one", 500)), keys.slice(0, 500));
    assert(read <= 1000, `a hand-out of 500 keys reads ${read}`);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
});
