/**
 * Engine of an older release, which knows only format 3 of the stored data. `format_3.js` is the module
 * `packages/redis/engine.ts` of commit bc061bbb with its scripts, bundled with `deno bundle --minify`.
 */

import type { Connection } from "../../../packages/redis/connection/connection.ts";
import type { RedisEngine, RedisEngineSettings } from "../../../packages/redis/engine.ts";
import type { Scripts } from "../../../packages/redis/scripts/script.ts";
import type { TimedServer } from "../timed_server.ts";
// @ts-types="./format_3.d.ts"
import { createScripts, Engine } from "./format_3.js";

/** Lua for the time, as in `timed_server.ts`. */
const scripts: Scripts = createScripts("{ 0, tonumber(KEYS[2]) }");

/** Loads the scripts of the older release on a server. */
export async function loadOlderRelease(server: TimedServer): Promise<void> {
  for (const { text } of Object.values(scripts)) await server.call("SCRIPT", "LOAD", text);
}

/** Opens engines of both releases for a queue. They have the same settings and the same clock. */
export function openBoth(
  server: TimedServer,
  ...[name, clock, settings = {}]: Parameters<TimedServer["engine"]>
): { older: RedisEngine; newer: RedisEngine } {
  let connection!: Connection;
  const newer = server.engine(name, clock, settings, (calls) => connection = calls as Connection);
  const all: RedisEngineSettings = { ...newer.settings, limiter: newer.limiter };
  return { older: new Engine(connection, scripts, all) as unknown as RedisEngine, newer };
}

/** Methods of engines that change a queue and exist in both releases. */
const SHARED: ReadonlySet<PropertyKey> = new Set<keyof RedisEngine>([
  "add",
  "addRateLimited",
  "cancelDelayed",
  "forget",
  "promoteDelayed",
  "turn",
]);

/** Opens an engine whose changes are made by the older or the newer release, in a fixed random order. */
export function openMixed(server: TimedServer, ...args: Parameters<TimedServer["engine"]>): RedisEngine {
  const { older, newer } = openBoth(server, ...args);
  let random = 1;
  return new Proxy(newer, {
    get(_target, name: keyof RedisEngine) {
      random = (random * 48271) % 2147483647; // the generator MINSTD
      const engine = random % 2 === 0 && SHARED.has(name) ? older : newer;
      const value = engine[name];
      return typeof value === "function" ? value.bind(engine) : value;
    },
  });
}
