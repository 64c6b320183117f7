/**
 * Coalesces file-system events: saving a file causes several events, and writing it in parts many, but it is
 * processed once for all that come within a moment, and always once more after the last.
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

/** How long the events of a file are gathered, in milliseconds. */
const WINDOW = 50;

const folder = await mkdtemp(join(tmpdir(), "file-events-"));
const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "10s" }));

runWorkers(queue, async (name) => {
  const text = await readFile(join(folder, name), "utf8").catch(ignoreMissing); // as it is now
  console.log(text === undefined ? `${name} is gone` : `${name} has ${text.length} characters`);
}, { maxRetries: 5, onError: (error, name) => console.warn(`${name}: ${error}`) });

const watching = (async () => {
  let events = 0;
  for await (const { filename } of watch(folder)) {
    if (filename === null) continue; // some systems do not always know it
    if (filename === "end") break; // for show: a service would go on, and drain on SIGTERM
    events++;
    queue.addAfter(filename, WINDOW);
  }
  console.log(`${events} events`);
})();

// What somebody else does in the folder.
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
