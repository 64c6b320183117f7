/** Tests of the metrics of queues in files: those of every engine, and what another program may do to the file. */

import { assertEquals, assertThrows } from "@std/assert";
import { InMemoryMetrics } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { sqliteQueueMetrics } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { processMetricsSuite } from "../contracts/process_metrics_suite.ts";
import { EVERY, isUnknown, queueMetricsSuite, Watched } from "../contracts/queue_metrics_suite.ts";
import { Folder, keepAlive } from "./files.ts";
import { inFile } from "./place.ts";

queueMetricsSuite(inFile);
processMetricsSuite(inFile);

Deno.test("SQLite: queue metrics: while the file is locked, the values are unknown, which is reported once", async () => {
  using folder = new Folder();
  using _alive = keepAlive();
  const errors: string[] = [];
  const onQueueError = (error: unknown) => void errors.push(String(error));
  await using queue = folder.open({ callTimeout: 100, onQueueError });
  await queue.add("a");
  const metrics = new Watched(queue.name);
  using _measuring = sqliteQueueMetrics(queue, metrics, EVERY);
  await metrics.until(({ depth }) => depth === 1);
  const program = new DatabaseSync(folder.path);
  for (const time of [1, 2]) {
    program.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    await metrics.until(isUnknown);
    for (let i = 0; i < 4; i++) await queue.counts().catch(() => {}); // meanwhile, other measurements fail
    program.exec("COMMIT");
    await metrics.until(({ depth }) => depth === 1);
    assertEquals(errors.length, time * 5, errors.join("\n"));
  }
  program.close();
});

Deno.test("SQLite: queue metrics: a queue on another engine is refused", async () => {
  await using queue = createRedisQueue({ name: "q" });
  const measure = () => sqliteQueueMetrics(queue as never, new InMemoryMetrics());
  assertThrows(measure, TypeError, "Cannot measure SQLite queue: 'queue' must be a queue on SQLite");
});
