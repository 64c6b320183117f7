/**
 * Process of the controller of the tests. Says on the standard output what it does, one event in JSON per line. A line
 * on the standard input asks for the content of the caches.
 *
 * Environment: `API_VERSION` and `KIND` (default: of config maps), `NAMESPACES` (default: all), `LEASE` (name of a
 * lease in `default`), `LEASE_DURATION` (ms), `PORT`, `REQUEUE` (default: `30s`), `WORK` (longest time of an attempt in
 * ms).
 */

import { Manager } from "@workqueue/kubernetes";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { greet } from "./greet.ts";

function say(event: string, more: Record<string, unknown> = {}): void {
  console.log(JSON.stringify({ event, at: Date.now(), ...more }));
}

const { API_VERSION, KIND, NAMESPACES, LEASE, LEASE_DURATION, PORT, REQUEUE = "30s", WORK } = process.env;
const manager = new Manager({
  name: "greeter",
  onError(error, ...where) {
    const { message, code, status } = error as { message: string; code?: string; status?: number };
    say("error", { message: `${where.map(String).join(" ")} ${message ?? error}`, code: status ?? code });
  },
  ...LEASE &&
    { lease: { name: LEASE, namespace: "default", ...LEASE_DURATION && { duration: Number(LEASE_DURATION) } } },
  ...PORT && { port: Number(PORT) },
});
const { configMaps, secrets, cached } = greet(manager, say, {
  ...API_VERSION && { apiVersion: API_VERSION },
  ...KIND && { kind: KIND },
  ...NAMESPACES && { namespaces: NAMESPACES.split(",") },
  ...WORK && { work: () => delay(Number(WORK) * Math.random()) },
  requeueAfter: REQUEUE,
});
const commands = createInterface(process.stdin).on("line", () => say("cache", { objects: cached() }));
Promise.all([configMaps.synced, secrets.synced]).then(() => say("synced"), () => {});
try {
  await manager.run();
  say("ended");
} catch (error) {
  say("ended", { message: (error as Error).message, code: (error as { code?: string }).code });
  process.exitCode = 1;
}
commands.close();
process.stdin.destroy();
