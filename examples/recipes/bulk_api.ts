/**
 * Batches to a bulk API that answers 429: up to 50 items in one request. If the server asks for a pause, the whole
 * queue waits for it, and no item is counted as failed. Items that the server refuses fail alone. The program ends by
 * itself.
 *
 * ```sh
 * npx -y deno run examples/recipes/bulk_api.ts
 * bun examples/recipes/bulk_api.ts
 * ```
 *
 * @module
 */

import {
  createExponentialLimiter,
  createRateLimitingQueue,
  RetryAfterError,
  runBatches,
  TerminalError,
} from "@workqueue/core";

const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: "20ms", maxDelay: "1s" }));
const stored = new Set<number>();
let [requests, refused] = [0, 0];

const pool = runBatches(queue, async (ids) => {
  const response = await post(ids);
  if (response.status === 429) {
    const { delay } = RetryAfterError.from(response) ?? { delay: 1000 };
    throw new RetryAfterError(delay, "status 429", { scope: "queue" });
  }
  if (!response.ok) throw new Error(`status ${response.status}`);
  const invalid: number[] = await response.json();
  return { failed: new Map(invalid.map((id) => [id, new TerminalError("the API refuses it")])) };
}, {
  size: 50,
  wait: "500ms",
  maxRetries: 5,
  onError() {},
  onGiveUp: (error, id, attempts) => console.log(`${id} given up at attempt ${attempts}: ${error}`),
});

for (let id = 1; id <= 200; id++) queue.add(id);
await queue.whenIdle();
console.log(`${stored.size} stored with ${requests} requests, of which ${refused} got status 429`);
await pool.stop();
queue.shutDown();

/** Simulates a bulk API, such as `fetch(url, { method: "POST", body })`. Its second request exceeds a rate. */
function post(ids: readonly number[]): Promise<Response> {
  if (++requests === 2) {
    refused++;
    return Promise.resolve(new Response(null, { status: 429, headers: { "retry-after": "1" } }));
  }
  for (const id of ids) if (id !== 13) stored.add(id);
  return Promise.resolve(Response.json(ids.filter((id) => id === 13)));
}
