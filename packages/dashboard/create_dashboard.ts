import {
  A_FUNCTION,
  argumentError,
  hasMethods,
  inspect,
  invalidArgument,
  requireRules,
  type Rule,
} from "@workqueue/core/internal";
import { Audit } from "./control/audit.ts";
import type { Dashboard, DashboardOptions } from "./contract.ts";
import { Events } from "./http/events.ts";
import { Guard } from "./http/guard.ts";
import { Server } from "./http/server.ts";
import { isRemote } from "./watch/source.ts";
import { Views } from "./watch/views.ts";
import { Watch } from "./watch/watch.ts";

const ACTION = "create dashboard";

const A_CONFIG: Rule = [
  (value: unknown) => hasMethods(value, "describe", "workers", "onReload", "reload"),
  "must be a config returned by loadConfig",
];
const A_POOL: Rule = [
  (value: unknown) => hasMethods(value, "pause", "resume", "snapshot", "stop"),
  "must be a pool returned by runWorkers",
];
const A_QUEUE: Rule = [
  (value: unknown) => hasMethods(value, "add", "cancelDelayed", "snapshot") && (isRemote(value) || isInMemory(value)),
  "must be a rate limiting queue, in memory, on Redis or in a file",
];
const ORIGINS: Rule = [
  (value: unknown) => Array.isArray(value) && value.every(isOrigin),
  'must be a list of origins, such as ["https://queues.example.com"]',
];
const QUEUES: Rule = [
  (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object that maps names to queues",
];

/** Reports whether a value is an origin as browsers send it: a scheme, a host, and perhaps a port. */
function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}

function isInMemory(value: unknown): boolean {
  return hasMethods(value, "addAfter", "addRateLimited", "tryGet");
}

/**
 * Creates a dashboard: a page that shows the state of queues and why a queue is stuck, and a JSON API with the same
 * data. The dashboard's `fetch` function answers requests, so the dashboard runs at any path on any server: Deno, Bun,
 * Node with an adapter, or a framework.
 *
 * The dashboard samples each queue every five seconds, to show the last fifteen minutes. Sampling costs very little and
 * doesn't keep the process alive. While the page is open, the dashboard checks the queues every second. Dispose the
 * dashboard to stop it.
 *
 * Errors and keys may contain secrets, so `view` has no default. Without `control`, nobody can change anything.
 *
 * @example Usage
 * ```ts
 * import { allowLocal, createDashboard } from "@workqueue/dashboard";
 * import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
 * const pool = runWorkers(queue, (image) => console.log(image));
 *
 * using dashboard = createDashboard({ queues: { images: { queue, pool } }, view: allowLocal });
 * // Deno.serve({ hostname: "127.0.0.1" }, dashboard.fetch);
 * const response = await dashboard.fetch(new Request("http://localhost:8000/api/state"), {
 *   remoteAddr: { hostname: "127.0.0.1" }, // Deno.serve passes the client's address
 * });
 * const { queues } = await response.json();
 * assertEquals([queues[0].name, queues[0].verdict], ["images", "healthy"]);
 * queue.shutDown();
 * ```
 *
 * @param options The queues, and who can view and control them.
 * @returns The dashboard.
 * @throws {TypeError} If an option is unknown, missing or invalid.
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  requireRules(ACTION, options, {
    queues: QUEUES,
    config: A_CONFIG,
    view: A_FUNCTION,
    control: A_FUNCTION,
    origins: ORIGINS,
    onSteer: A_FUNCTION,
    readConfig: A_FUNCTION,
  });
  const { queues, config, view, control, origins = [], onSteer, readConfig } = options;
  if (queues === undefined) throw invalidArgument(ACTION, "queues", QUEUES[1], queues);
  if (view === undefined) throw invalidArgument(ACTION, "view", "must be a function, such as allowLocal", view);
  if (readConfig !== undefined && config === undefined) {
    throw argumentError(ACTION, "'readConfig' requires 'config'");
  }
  for (const [name, shown] of Object.entries(queues)) requireQueue(name, shown);

  const instance = crypto.randomUUID();
  const watch = new Watch(queues, config);
  const audit = new Audit(onSteer);
  const views = new Views(watch, { instance, mayReload: readConfig !== undefined, audit });
  const events = new Events(watch, views);
  const server = new Server({
    guard: new Guard({ view, control, origins: [...origins] }, instance, audit),
    watch,
    views,
    events,
    audit,
    options: { config, readConfig },
  });
  return {
    fetch: (request, info) => server.fetch(request, info),
    [Symbol.dispose]() {
      events[Symbol.dispose]();
      watch[Symbol.dispose]();
    },
  };
}

function requireQueue(name: string, shown: unknown): void {
  const action = `${ACTION} with queue ${inspect(name)}`;
  if (["", ".", ".."].includes(name)) throw argumentError(action, "URLs cannot contain that name");
  requireRules(action, shown, { queue: A_QUEUE, pool: A_POOL, keyText: A_FUNCTION, onTakeBack: A_FUNCTION });
  const { queue } = shown as { queue?: unknown };
  if (queue === undefined) throw invalidArgument(action, "queue", A_QUEUE[1], queue);
}
