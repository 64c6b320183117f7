/**
 * Coalesces file-system events. Saving a file causes several events, and writing a file in parts causes many. All
 * events for a file within a short time lead to one run. The last event is always followed by a run.
 *
 * ```sh
 * npx -y deno run -A examples/recipes/file_events.ts
 * bun examples/recipes/file_events.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { appendFile, mkdtemp, readFile, rm, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Period during which the events for a file are collected, in milliseconds. */
const WINDOW = 50;

const folder = await mkdtemp(join(tmpdir(), "file-events-"));
const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "10s" }));

runWorkers(queue, async (name) => {
  const text = await readFile(join(folder, name), "utf8").catch(ignoreMissing); // current content
  console.log(text === undefined ? `${name} is gone` : `${name} has ${text.length} characters`);
}, { maxRetries: 5, onError: (error, name) => console.warn(`${name}: ${error}`) });

const watching = (async () => {
  let events = 0;
  for await (const { filename } of watch(folder)) {
    if (filename === null) continue; // some systems don't always report the file's name
    if (filename === "end") break; // ends the demo; a service would drain on SIGTERM
    events++;
    queue.addAfter(filename, WINDOW);
  }
  console.log(`${events} events`);
})();

// Simulates changes made by another program.
for (let part = 0; part < 50; part++) await appendFile(join(folder, "log.txt"), "a line of 20 letters");
await writeFile(join(folder, "draft.txt"), "never mind");
await rm(join(folder, "draft.txt"));
await writeFile(join(folder, "end"), "");

await watching;
await queue.shutDownWithDrain({ delayed: "flush" });
await rm(folder, { recursive: true });

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
