/**
 * Service of the demo: accepts events over HTTP, and delivers each as a webhook. An event is accepted once it is on the
 * disk. The arguments are the path of the queue's file and the URL to which events are delivered.
 */

import { runWorkers } from "@workqueue/core";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createSqliteQueue } from "../mod.ts";
import { LEASE, type Report } from "./report.ts";

const [path, target] = process.argv.slice(2) as [string, string];

function tell(report: Report): void {
  console.log(JSON.stringify(report));
}

const queue = createSqliteQueue({
  name: "webhooks",
  path,
  leaseDuration: `${LEASE}s`,
  limiter: { type: "exponential", baseDelay: "200ms", maxDelay: "10s" },
});

runWorkers(queue, async (event, { signal }) => {
  // The receiver recognizes a repeated event by this key, if this process is killed before it can note the answer.
  const response = await fetch(target, { method: "POST", headers: { "Idempotency-Key": event }, signal });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
}, {
  concurrency: 4,
  onError: (error, event) => tell({ kind: "failed", event, error: (error as Error).message }),
});

const server = createServer(async (request, response) => {
  const event = new URL(request.url!, "http://localhost").pathname.slice(1);
  const code = await queue.add(event).then(() => 202, () => 503);
  response.writeHead(code).end();
});
server.listen(0, "127.0.0.1", async () => {
  const { ready, delayed, processing } = await queue.counts();
  tell({ kind: "started", port: (server.address() as AddressInfo).port, waiting: ready + delayed + processing });
});

process.once("SIGTERM", () => {
  server.close();
  queue.shutDownWithDrain();
});
