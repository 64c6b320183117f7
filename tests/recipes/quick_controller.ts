/**
 * Runs `controller.ts` with clocks and timers that are `QUICKER` times as fast as real ones, for tests in which a
 * controller waits for long. Fake timers can't reach into another process. On Deno, removes a function that
 * Node 20 doesn't have, and that Bun itself calls.
 */

import process from "node:process";

const factor = Number(process.env["QUICKER"]);
const { now, setTimeout, timeout } = {
  now: performance.now.bind(performance),
  setTimeout: globalThis.setTimeout,
  timeout: AbortSignal.timeout.bind(AbortSignal),
};
const startedAt = Date.now();
performance.now = () => now() * factor;
Date.now = () => startedAt + now() * factor;
globalThis.setTimeout = ((callback: () => void, ms = 0, ...args: []) => {
  return setTimeout(callback, ms / factor, ...args);
}) as typeof setTimeout;
AbortSignal.timeout = (ms) => timeout(ms / factor);
if (process.versions["deno"] !== undefined) Reflect.deleteProperty(Promise, "withResolvers");
await import("../../examples/controller/controller.ts");
