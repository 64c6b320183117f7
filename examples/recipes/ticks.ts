/**
 * A job that runs once per tick of a clock, such as each full hour, in one of several processes. All processes work on
 * one queue in a file, and the item is the name of the job. The program ends by itself.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/recipes/ticks.ts
 * bun examples/recipes/ticks.ts
 * ```
 *
 * @module
 */

import { runWorkers } from "@workqueue/core";
import { createSqliteQueue } from "@workqueue/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Time between two ticks, in milliseconds: an hour in a real program. */
const PERIOD = 200;

const folder = mkdtempSync(join(tmpdir(), "ticks-"));
/** Ticks that were done: a table with a unique key in a real program, written in the transaction of the work. */
const done = new Set<number>();
const runs: number[] = [];

/** Starts what each process of the service starts. */
async function startProcess() {
  const queue = createSqliteQueue<string>({
    path: join(folder, "jobs.db"),
    name: "jobs",
    limiter: { type: "exponential", baseDelay: 20, maxDelay: 1000 },
  });
  const pool = runWorkers(queue, (_job, { attempt }) => {
    const tick = Math.floor(Date.now() / PERIOD);
    if (!done.has(tick)) { // a run that was repeated after a crash, or that came early, does nothing
      if (runs.length === 2 && attempt === 1) throw new Error("a hiccup"); // retried, within the tick if it is long
      runs.push(tick);
      done.add(tick);
    }
    return { requeueAfter: PERIOD - Date.now() % PERIOD }; // the rest of the current period, at the end of the work
  }, { onError() {} });
  await queue.add("report"); // every process adds the job when it starts: adds of one key are folded
  return { queue, pool };
}

const processes = await Promise.all([startProcess(), startProcess(), startProcess()]);
while (runs.length < 5) await new Promise((resolve) => setTimeout(resolve, 20));
for (const { queue, pool } of processes) {
  await pool.stop();
  await queue.shutDownWithDrain();
}
rmSync(folder, { recursive: true });

console.log(`${runs.length} runs, each in a tick of its own: ${new Set(runs).size === runs.length}`);
