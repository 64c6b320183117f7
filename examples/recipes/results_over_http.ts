/**
 * Results over HTTP: a POST starts the work on a report and waits up to a time for its result. If the work takes
 * longer, the answer is 202 with an address, at which clients ask until the result is there. The program ends by
 * itself.
 *
 * ```sh
 * npx -y deno run --allow-net=127.0.0.1 examples/recipes/results_over_http.ts
 * bun examples/recipes/results_over_http.ts
 * ```
 *
 * @module
 */

import {
  createExponentialLimiter,
  createRateLimitingQueue,
  GivenUpError,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Time for which a POST waits, in milliseconds. Shorter than the timeouts of clients and proxies. */
const PATIENCE = 200;

/** Time for which a result is kept for clients that ask for it, in milliseconds. */
const KEEP_FOR = 60_000;

/** State of the work on a report, as clients see it. */
type Report = { state: "running" } | { state: "done"; pages: number } | { state: "failed"; error: string };

const limiter = createExponentialLimiter({ baseDelay: "10ms", maxDelay: "1s" });
const queue = createRateLimitingQueue<string, number>(limiter);
const reports = new Map<string, Report>();

runWorkers(queue, async (id, { attempt }) => {
  await sleep(id === "large" ? 2 * PATIENCE : 1); // the work goes here
  if (id === "unknown") throw new TerminalError("there is no such report");
  if (attempt === 1) throw new Error("a hiccup"); // the client doesn't see it
  return id.length;
}, { concurrency: 4, maxRetries: 5, onError() {} });

/** Starts the work on a report, unless it is running. Resolves when the work has ended. Never rejects. */
function start(id: string): Promise<void> {
  if (reports.get(id)?.state !== "running") reports.set(id, { state: "running" });
  return queue.addAndWait(id).then(
    (pages) => end(id, { state: "done", pages }),
    (error) => end(id, { state: "failed", error: String(error instanceof GivenUpError ? error.cause : error) }),
  );
}

function end(id: string, report: Report): void {
  reports.set(id, report);
  setTimeout(() => reports.get(id) === report && reports.delete(id), KEEP_FOR).unref();
}

const server = createServer(async (request, response) => {
  const id = decodeURIComponent(request.url!.replace("/reports/", ""));
  if (request.method === "POST") await Promise.race([start(id), sleep(PATIENCE)]);
  const report = reports.get(id);
  const status = report === undefined ? 404 : report.state === "running" ? 202 : report.state === "failed" ? 422 : 200;
  response.writeHead(status, { "content-type": "application/json", location: `/reports/${encodeURIComponent(id)}` });
  response.end(JSON.stringify(report ?? { error: "nobody asked for this report" }));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/reports/`;

/** Asks for a report as a client does: a POST, and then requests until the work has ended. */
async function ask(id: string): Promise<string> {
  let [response, polls] = [await fetch(address + id, { method: "POST" }), 0];
  for (; response.status === 202; polls++) {
    await response.body?.cancel();
    await sleep(50);
    response = await fetch(address + id);
  }
  return `${id}: ${response.status} ${await response.text()}${polls === 0 ? "" : ", after a 202"}`;
}

for (const line of await Promise.all(["small", "small", "large", "unknown"].map(ask))) console.log(line);
server.close();
await queue.shutDownWithDrain();

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
