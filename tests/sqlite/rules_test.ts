/** Tests of the rules that hold on SQLite. */

import type { WorkQueueConfig } from "@workqueue/core";
import { sqliteQueues } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { testRules } from "../contracts/engine_rules_suite.ts";
import { engineTest } from "./bench.ts";
import { rulesOnSqlite } from "./rules.ts";

/** Tables that have a queue's settings and numbers, or belong to the file. */
const KEPT = ["queues", "messages", "machines", "gaps"];

testRules(
  "SQLite",
  rulesOnSqlite,
  "sqlite.md",
  (name, run) =>
    engineTest(name, async (bench) =>
      await run(Object.assign(bench, {
        leftovers() {
          const database = new DatabaseSync(bench.path);
          const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
            name: string;
          }[];
          const names = tables.map(({ name }) => name).filter((name) => !KEPT.includes(name));
          const left = names.filter((name) => database.prepare(`SELECT 1 FROM ${name}`).get() !== undefined);
          database.close();
          return Promise.resolve(left);
        },
        queueOf: (config: WorkQueueConfig, name: string) => sqliteQueues(config, { path: bench.path }).queue(name),
      }))),
);
