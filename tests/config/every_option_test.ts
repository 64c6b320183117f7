/**
 * Every option of a queue that a document may give, as it is declared: it reaches those it is for, at once or later.
 */

import { assert, assertEquals } from "@std/assert";
import { type ConfigChange, type Field, loadConfig, type WorkerPool } from "@workqueue/core";
import { queueOptions } from "@workqueue/core/config";

type Name = keyof typeof queueOptions;

/** Two values of an option. */
function valuesOf(field: Field<"limiter" | "discipline" | "bucket">): [unknown, unknown] {
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
    case "bucket":
      return [{ rate: 1, burst: 1 }, { rate: 2, burst: 2 }];
    default:
      throw new Error(`name two values of kind ${field.kind}`);
  }
}

/** The changes that a pool is told of. */
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
    const told = watchChanges(pool as WorkerPool);
    const changes: ConfigChange[] = config.reload({ queues: { q: { [option]: second } } });
    assert(changes.length > 0);
    assertEquals(new Set(changes.map((change) => change.inForce)), new Set([inForce]));
    // A bucket stays the same, and has another rate.
    const isTold = serves === "pool" && inForce === "now" && field.kind !== "bucket";
    assertEquals(told.flatMap(Object.keys), isTold ? [option] : []);
    config.reload({ queues: { q: {} } });
    assertEquals(told.flatMap(Object.keys).includes(option), serves === "pool" && inForce === "now");
    queue.shutDown();
    await pool.finished;
  });
}
