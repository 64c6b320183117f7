/** Tests of the demo as a user starts it: with its task on Deno, as a script on Bun. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { serverTest } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COMMAND = process.versions["bun"] === undefined ? ["task", "demo:redis"] : ["packages/redis/demo/main.ts"];
const LOOK_AGAIN = 20;

/** Starts the demo in its own process group, as a shell does. */
function start(env: Record<string, string> = {}): ChildProcess {
  const { WORKQUEUE_REDIS_URL: _, ...own } = process.env;
  return spawn(process.execPath, COMMAND, {
    cwd: ROOT,
    env: { ...own, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

async function ended(demo: ChildProcess): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr, [code]] = await Promise.all([text(demo.stdout!), text(demo.stderr!), once(demo, "close")]);
  return { code, stdout, stderr };
}

/** Reports whether any of the demo's processes is still running. */
function isLeft(demo: ChildProcess): boolean {
  try {
    return process.kill(-demo.pid!, 0);
  } catch {
    return false;
  }
}

async function isInterrupted(demo: ChildProcess): Promise<void> {
  let printed = "";
  const isWorking = new Promise<void>((resolve) => {
    demo.stdout!.on("data", (data) => {
      printed += data;
      if (printed.includes("works on")) resolve();
    });
  });
  await isWorking;
  const end = ended(demo);
  process.kill(-demo.pid!, "SIGINT"); // like Ctrl-C
  assertEquals((await end).code, 130);
  while (isLeft(demo)) await delay(LOOK_AGAIN);
}

serverTest("demo: a worker is killed, and every photo is done", async () => {
  const demo = start();
  const { code, stdout, stderr } = await ended(demo);
  assertEquals(code, 0, stdout + stderr);
  assertEquals(isLeft(demo), false);
  assertMatch(stdout, /worker \d is killed, in the middle of photo-\d\d/);
  assertMatch(stdout, /works on photo-\d\d, which comes back from worker \d/);
  assertMatch(stdout, /photo-\d\d failed: the disk was busy; it will be retried/);
  assertMatch(stdout, /works on photo-\d\d, attempt 2/);
  assertMatch(stdout, /^photos done: +18 /m);
  assertStringIncludes(stdout, "0 ready, 0 delayed, 0 processing, 0 failing, 0 given up");

  const orders = [...stdout.matchAll(/orders +(\w+\/\d) is (done|given up)/g)].map(([, order, end]) =>
    `${order} ${end}`
  );
  const loud = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `loud/${number}`);
  assertEquals(orders.slice(0, 5).map((line) => line.split("/")[0]).sort(), ["calm", "loud", "loud", "quiet", "quiet"]);
  assertEquals(orders.filter((line) => line.endsWith("given up")), loud.map((order) => `${order} given up`));
  assertEquals(orders.slice(11), loud.map((order) => `${order} done`));
  assertMatch(stdout, /^orders done: +11, and 0 are still given up$/m);
});

serverTest("demo: Ctrl-C leaves no process", async () => {
  await isInterrupted(start());
});

serverTest("demo: Ctrl-C leaves nothing on a server that was given", async () => {
  await using server = await RedisServer.start();
  await isInterrupted(start({ WORKQUEUE_REDIS_URL: server.url }));
  assertEquals(await server.call("KEYS", "*"), []);
});

Deno.test("demo: without a server, it says in one line how to get one", async () => {
  const { code, stdout, stderr } = await ended(start({ WORKQUEUE_REDIS_SERVER: "no-such-server" }));
  assertEquals([code, stdout], [1, ""]);
  assertMatch(
    stderr,
    /^There is no .*apt-get install redis-server.*WORKQUEUE_REDIS_URL to the address of a running server$/m,
  );
});
