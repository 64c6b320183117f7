/**
 * Webhook receivers and workers in separate processes, and a deploy that replaces a busy worker. Requires a Redis
 * server at `WORKQUEUE_REDIS_URL`, by default on this machine.
 *
 * ```sh
 * npx -y deno run -A examples/recipes/webhook_deploy.ts
 * bun examples/recipes/webhook_deploy.ts
 * ```
 *
 * @module
 */

import { createRedisQueue } from "@workqueue/redis";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

const RUN = "Deno" in globalThis ? ["run", "-A"] : [];

interface Started {
  child: ChildProcess;
  lines: Interface;
  /** Resolves when the process has printed a line, and so handles SIGTERM. */
  ready: Promise<unknown>;
}

function start(name: string, script: string): Started {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...RUN, file], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(child.stdout);
  lines.on("line", (line) => console.log(`${name} ${line}`));
  return { child, lines, ready: once(lines, "line") };
}

/** Stops a process with SIGTERM, as an orchestrator does. */
async function stop({ child, ready }: Started): Promise<void> {
  await ready;
  const ended = once(child, "close");
  process.kill(child.pid!, "SIGTERM"); // after `child.kill`, Deno reports no exit code
  const [code] = await ended;
  if (code !== 0) throw new Error(`A process ended with ${code}`);
}

const receivers = ["receiver 1", "receiver 2"].map((name) => start(name, "webhook_receiver.ts"));
const ports = await Promise.all(
  receivers.map(async ({ lines }) => String((await once(lines, "line"))[0]).split(" ").at(-1)),
);
const workers = ["worker 1", "worker 2"].map((name) => start(name, "webhook_worker.ts"));

/** Sends the webhooks for a push of many branches, alternating between the two receivers. */
async function push(repository: string): Promise<void> {
  for (let i = 0; i < 10; i++) {
    const body = JSON.stringify({ repository });
    const response = await fetch(`http://127.0.0.1:${ports[i % 2]}`, { method: "POST", body });
    await response.body?.cancel();
    if (response.status !== 202) throw new Error(`A receiver answered ${response.status}`);
  }
}

const busy = Promise.race(workers.map(async (worker) => {
  await worker.ready;
  await once(worker.lines, "line"); // the first item
  return worker;
}));
for (let i = 1; i <= 6; i++) await push(`acme/${i}`);
const old = await busy;
const [next] = await Promise.all([start("worker 3", "webhook_worker.ts"), stop(old)]); // the deploy
for (let i = 1; i <= 6; i++) await push(`acme/${i}`);

const queue = createRedisQueue({ name: "mirrors", url: process.env["WORKQUEUE_REDIS_URL"] });
await queue.whenIdle();
queue.shutDown();
await Promise.all([...workers.filter((worker) => worker !== old), next, ...receivers].map(stop));
