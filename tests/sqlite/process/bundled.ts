/**
 * Program of `bundles_test.ts`. `QUEUE` is the path of a queue's file, and `THREAD` the option `thread`: `true`, or the
 * name of a file beside the program. Prints a line each time the program starts. In a bundle of CommonJS modules, the
 * program can neither await at its top level nor read its own URL from `import.meta`.
 */

import { runWorkers } from "@workqueue/core";
import { createSqliteQueue } from "@workqueue/sqlite";
import process from "node:process";
import { pathToFileURL } from "node:url";

console.log("started");
run().catch((error) => {
  console.log(error.message);
  process.exit();
});

async function run(): Promise<void> {
  const { QUEUE: path, THREAD: given } = process.env as { QUEUE: string; THREAD: string };
  const thread = given === "true" || new URL(given, pathToFileURL(process.argv[1] ?? "/in/a/thread"));
  const queue = createSqliteQueue({ name: "bundled", path, thread, onQueueError() {} });
  runWorkers(queue, (item) => console.log(`worked on ${item}`), { concurrency: 1 });
  await queue.add("a");
  await queue.whenIdle();
  await queue.shutDownWithDrain();
}
