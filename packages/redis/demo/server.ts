/** Redis server of the demo: a new server, or a server that is already running. */

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

/** Server that stores the demo's queue. */
export interface DemoServer {
  readonly url: string;
  /** Description of the server, for the output. */
  readonly what: string;
  /** Stops the server. On a server that ran before the demo, removes the queues whose names begin with `queues`. */
  end(queues: string): Promise<void>;
}

/** Returns the server at `WORKQUEUE_REDIS_URL`, or starts a server. Returns `undefined` if no server can be started. */
export async function findServer(): Promise<DemoServer | undefined> {
  if (given !== undefined) {
    return { url: given, what: "the server of WORKQUEUE_REDIS_URL", end: (queues) => remove(given, queues) };
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
  child.stdout!.resume(); // the server would block on output that nothing reads
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

/** Removes the keys of the demo's queues from a server that was already running. */
async function remove(url: string, queues: string): Promise<void> {
  const client = createClient({ url });
  client.on("error", () => {}); // failed calls report the error
  await client.connect();
  for await (const keys of client.scanIterator({ MATCH: `workqueue:{${queues}*}:*` })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  await client.close();
}
