/**
 * The newest wins: a search box sends a query for each letter. The item is the box and not the query, so a newer query
 * aborts the request of an older one, and no answer of an old query ever replaces that of a newer one. The program ends
 * by itself.
 *
 * ```sh
 * npx -y deno run examples/recipes/search_box.ts
 * bun examples/recipes/search_box.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";

interface Search {
  readonly box: string;
  readonly query: string;
}

const queue = createRateLimitingQueue<Search>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "1s" }), {
  keyOf: ({ box }) => box,
});
const shown: string[] = [];
let requests = 0;
let aborted = 0;

runWorkers(queue, async ({ query }, { signal }) => {
  const hits = await search(query, signal);
  shown.push(`${query}: ${hits} hits`);
}, { whileProcessing: "abort", abortFor: "2s", onError: (error, { query }) => console.log(`${query}: ${error}`) });

const text = "workqueue";
for (let length = 1; length <= text.length; length++) {
  queue.add({ box: "header", query: text.slice(0, length) });
  await sleep(5); // typing is faster than the server
}
await queue.whenIdle();
console.log(shown.join("\n"));
console.log(`${requests} requests, of which ${aborted} were aborted`);
queue.shutDown();

/** Simulates a request to a server, such as `fetch(url, { signal })`. Short queries take longer. */
async function search(query: string, signal: AbortSignal): Promise<number> {
  requests++;
  await sleep(200 / query.length, signal).catch((error) => {
    aborted++;
    throw error;
  });
  return 1000 / query.length | 0;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
