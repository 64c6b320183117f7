/**
 * Processes items while you edit the config file. A change takes effect within half a second.
 *
 *     npx -y deno run --allow-read --allow-env examples/live_limits.ts
 *     bun examples/live_limits.ts
 *
 * Then edit `live_limits.yaml`, or the file that you pass as an argument.
 */

import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const file = process.argv[2] ?? new URL("live_limits.yaml", import.meta.url);
const config = loadConfigFile(file);
const queue = config.queue<number>("demo");
const endedAt = new Map<number, number>(); // time of each item's latest failure

const pool = config.runWorkers("demo", queue, async (item, { attempt }) => {
  if (attempt === 1) queue.add(item + 1); // keeps the queue busy
  const waited = attempt === 1 ? "" : `, attempt ${attempt} after ${Math.round(seconds(endedAt.get(item)) * 1000)} ms`;
  print(`item ${item}${waited}, ${pool.active} at once`);
  await delay(500);
  if (item % 4 === 0 && attempt <= 3) {
    endedAt.set(item, performance.now());
    throw new Error("a hiccup");
  }
}, { onError() {} });

watchConfigFile(file, config, {
  onReload(changes) {
    for (const { path, old, new: now, inForce } of changes) {
      print(`${path}: ${JSON.stringify(old)} → ${JSON.stringify(now)}${inForce === "now" ? "" : " at the next start"}`);
    }
  },
});
queue.add(1);

function seconds(since = 0): number {
  return (performance.now() - since) / 1000;
}

function print(line: string): void {
  console.log(`${seconds().toFixed(1).padStart(6)} s  ${line}`);
}
