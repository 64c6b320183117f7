/**
 * Tests of every option that a document can declare for a queue. A changed option takes effect in the queue or the
 * pool, either immediately or only in queues and pools that are created later.
 */

import { assert, assertEquals } from "@std/assert";
import { type ConfigChange, type Field, loadConfig, type WorkerPool } from "@workqueue/core";
import { queueOptions } from "@workqueue/core/config";

type Name = keyof typeof queueOptions;

/** Returns two different values that an option accepts. */
function valuesOf(field: Field<"limiter" | "discipline" | "throttle">): [unknown, unknown] {
  switch (field.kind) {
    case "duration":
      return ["5s", "7s"];
    case "integer":
    case "number":
      return [3, 4];
    case "boolean":
      return [true, false];
    case "enum":
      return [field.values[0], field.values[1]];
    case "limiter":
      return [1, 2].map((s) => ({ type: "exponential", baseDelay: `${s}s`, maxDelay: "1m" })) as [unknown, unknown];
    case "discipline":
      return [{ type: "fair", separator: "/" }, { type: "fair", separator: ":" }];
    case "retryBudget":
      return [{ ratio: 0.1, minRate: 1 }, { ratio: 0.2, minRate: 1 }];
    case "retention":
      return [100, { max: 100, maxAge: "1h" }];
    case "throttle":
      return [{ rate: 1, burst: 1 }, { rate: 2, burst: 2 }];
    default:
      throw new Error(`name two values of kind ${field.kind}`);
  }
}

/** Records the changes applied to a pool. */
function watchChanges(pool: WorkerPool): object[] {
  const seen: object[] = [];
  const watched = pool as unknown as { change(changes: object): void };
  const change = watched.change.bind(pool);
  watched.change = (changes) => {
    seen.push(changes);
    change(changes);
  };
  return seen;
}

for (const [name, { serves, inForce, ...field }] of Object.entries(queueOptions)) {
  const option = name as Name;
  Deno.test(`'${option}' of a queue in a document reaches the ${serves}, and a reload is in force as declared`, async () => {
    const [first, second] = valuesOf(field);
    const config = loadConfig({ queues: { q: { [option]: first } } });
    assert(config.describe("q")[option] !== undefined, "described");
    assertEquals(Object.keys(config.workers("q")), serves === "pool" ? [option] : []);

    const queue = config.queue<string>("q");
    const pool = config.runWorkers("q", queue, () => {});
    const reported = watchChanges(pool as WorkerPool);
    const changes: ConfigChange[] = config.reload({ queues: { q: { [option]: second } } });
    assert(changes.length > 0);
    assertEquals(new Set(changes.map((change) => change.inForce)), new Set([inForce]));
    // A bucket is not replaced; only its rate changes.
    const isReported = serves === "pool" && inForce === "now" && field.kind !== "throttle";
    assertEquals(reported.flatMap(Object.keys), isReported ? [option] : []);
    config.reload({ queues: { q: {} } });
    assertEquals(reported.flatMap(Object.keys).includes(option), serves === "pool" && inForce === "now");
    queue.shutDown();
    await pool.finished;
  });
}
