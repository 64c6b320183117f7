/** Program of a user who has just installed the dashboard. Every runtime runs the program. */

import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { allowLocal, createDashboard, type Dashboard, type State } from "@workqueue/dashboard";

const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
const pool = runWorkers(queue, () => {});
const dashboard: Dashboard = createDashboard({ queues: { images: { queue, pool } }, view: allowLocal });
queue.add("a");
await queue.whenIdle();
queue.shutDown();

const info = { remoteAddr: { hostname: "127.0.0.1" } };
const ask = (path: string) => dashboard.fetch(new Request(`http://localhost:4680/queues/${path}`), info);
const state = await (await ask("api/state")).json() as State;
console.log(JSON.stringify({
  isPage: (await (await ask("")).text()).startsWith("<!DOCTYPE html>"),
  queues: state.queues.map(({ name, engine, verdict }) => [name, engine, verdict]),
}));
