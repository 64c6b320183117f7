/** The server of the demo: one of its own, or one that runs. */

import { createClient } from "@redis/client";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

const { WORKQUEUE_REDIS_SERVER: named, WORKQUEUE_REDIS_URL: given } = process.env;

/** Where the photos are. */
export interface DemoServer {
  readonly url: string;
  /** What it is, in words. */
  readonly what: string;
  /** Stops it, or removes the queue from one that goes on. */
  end(queue: string): Promise<void>;
}

/** Takes the server that `WORKQUEUE_REDIS_URL` names, or starts one; `undefined` if none is installed. */
export async function findServer(): Promise<DemoServer | undefined> {
  if (given !== undefined) {
    return { url: given, what: "the server of WORKQUEUE_REDIS_URL", end: (queue) => remove(given, queue) };
  }
  for (const command of named === undefined ? ["redis-server", "valkey-server"] : [named]) {
    const server = await start(command);
    if (server !== undefined) return server;
  }
  return undefined;
}

async function start(command: string): Promise<DemoServer | undefined> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "workqueue_demo_"));
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const child = spawn(command, options, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
  const kill = () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  if (!await isReady(child)) {
    kill();
    return undefined;
  }
  const end = async () => {
    kill();
    await ended;
  };
  return { url: `redis://127.0.0.1:${port}`, what: `${command} on port ${port}`, end };
}

async function isReady(child: ChildProcess): Promise<boolean> {
  const failed = new Promise((resolve) => child.once("error", resolve));
  const answered = (async () => {
    for await (const line of createInterface(child.stdout!)) if (line.includes("Ready to accept connections")) return;
    return "it has ended";
  })();
  const problem = await Promise.race([failed, answered]);
  child.stdout!.resume(); // or it would stop when nobody reads what it says
  return problem === undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Leaves nothing of the queue on a server that others use. */
async function remove(url: string, queue: string): Promise<void> {
  const client = createClient({ url });
  client.on("error", () => {}); // what it is, the call says
  await client.connect();
  for await (const keys of client.scanIterator({ MATCH: `workqueue:{${queue}}:*` })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  await client.close();
}
