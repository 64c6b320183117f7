/**
 * Serves a dashboard under a sub-path with the runtime's own server, sends requests to it over the network, and prints
 * the results. The process must end by itself, because the dashboard is not disposed.
 */

import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type RequestOptions } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Fetch = (request: Request, info?: unknown) => Promise<Response>;

/** Server on a free loopback port. */
interface Served {
  readonly port: number;
  stop(): unknown;
}

declare const Bun: {
  serve(
    options: { port: number; hostname: string; fetch: Fetch } | { unix: string; fetch: Fetch },
  ): { port: number; stop(force: boolean): Promise<void> };
};

async function serve(fetch: Fetch): Promise<Served> {
  const hostname = "127.0.0.1";
  if ("Bun" in globalThis) {
    const server = Bun.serve({ port: 0, hostname, fetch });
    return { port: server.port, stop: () => server.stop(true) };
  }
  if ("Deno" in globalThis) {
    const server = Deno.serve({ port: 0, hostname, onListen: () => {} }, fetch);
    return { port: (server.addr as { port: number }).port, stop: () => server.shutdown() };
  }
  const [{ serve }, { Hono }] = [await import("@hono/node-server"), await import("hono")];
  const app = new Hono().all("*", (context) => fetch(context.req.raw, context.env));
  return await new Promise((resolve) => {
    const server = serve(
      { port: 0, hostname, fetch: app.fetch },
      ({ port }) => resolve({ port, stop: () => server.close() }),
    );
  });
}

/** Serves on a Unix socket, whose clients have no addresses. */
async function serveUnix(path: string, fetch: Fetch): Promise<() => unknown> {
  if ("Bun" in globalThis) {
    const server = Bun.serve({ unix: path, fetch });
    return () => server.stop(true);
  }
  if ("Deno" in globalThis) {
    const server = Deno.serve({ path, onListen: () => {} }, fetch);
    return () => server.shutdown();
  }
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({ fetch });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return () => server.close();
}

/** Returns the status of a request for the state. */
async function statusOf(options: RequestOptions): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    httpRequest({ path: "/ops/queues/api/state", agent: false, ...options }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    }).on("error", reject).end();
  });
}

const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
const pool = runWorkers(queue, () => {}, { concurrency: 2 });
pool.pause();
queue.add("a");
let looks = 0;
const snapshot = queue.snapshot.bind(queue);
queue.snapshot = (options) => {
  if (options?.limit !== 0) looks++;
  return snapshot(options);
};

const dashboard = createDashboard({ queues: { images: { queue, pool } }, view: allowLocal, control: allowLocal });
const served = await serve((request, info) => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith("/without-info/")) return dashboard.fetch(request);
  const isOurs = pathname.startsWith("/ops/queues");
  return isOurs ? dashboard.fetch(request, info) : Promise.resolve(new Response("another part", { status: 404 }));
});
const origin = `http://127.0.0.1:${served.port}`;
const base = `${origin}/ops/queues/`;

const page = await fetch(`${origin}/ops/queues`);
const [pageUrl, pageText] = [page.url, await page.text()];
const state = await (await fetch(`${base}api/state`)).json();
const control = await fetch(`${base}api/queues/images/concurrency`, {
  method: "POST",
  headers: { "content-type": "application/json", origin, "x-workqueue-instance": state.instance },
  body: '{ "concurrency": 7 }',
});
await control.text();

const here = { host: "127.0.0.1", port: served.port };
/** Status that a third-party page gets if its host name resolves to this server. */
const rebound = await statusOf({ ...here, headers: { host: "evil.example" } });

const { error } = console;
const reports: string[] = [];
console.error = (line) => reports.push(line);
const unaddressed = [];
for (let i = 0; i < 2; i++) {
  unaddressed.push(
    await statusOf({ ...here, path: "/without-info/ops/queues/api/state", headers: { host: "localhost" } }),
  );
}
const folder = mkdtempSync(join(tmpdir(), "workqueue_dashboard_"));
const stopUnix = await serveUnix(join(folder, "socket"), dashboard.fetch);
unaddressed.push(await statusOf({ socketPath: join(folder, "socket"), headers: { host: "localhost" } }));
await stopUnix();
rmSync(folder, { recursive: true });
console.error = error;

const controller = new AbortController();
const events = await fetch(`${base}api/events?queue=images`, { signal: controller.signal });
let text = "";
const decoder = new TextDecoder();
for await (const chunk of events.body!) {
  text += decoder.decode(chunk, { stream: true });
  if (text.split("event: queue").length > 7) break; // access has been checked again by then
}
controller.abort();
// The events end as soon as the server notices the abort. Until then, the queue is read once per second.
for (let before = -1; before !== looks;) {
  before = looks;
  await new Promise((resolve) => setTimeout(resolve, 1500));
}

queue.shutDown();
await pool.stop();
await served.stop();
console.log(JSON.stringify({
  redirected: pageUrl === base,
  isPage: /^<!doctype html>/i.test(pageText),
  policy: page.headers.get("content-security-policy")?.startsWith("default-src 'none'"),
  names: state.queues.map(({ name }: { name: string }) => name),
  mayControl: state.mayControl,
  control: control.status,
  concurrency: pool.concurrency,
  rebound,
  unaddressed,
  reports,
  type: events.headers.get("content-type"),
  events: [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name).slice(0, 4),
  looked: looks > 0,
}));
