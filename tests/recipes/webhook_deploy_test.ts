/** Tests of the recipe with receivers and workers in separate processes, and a Redis server that the test starts. */

import { assertEquals, assertLess } from "@std/assert";
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serverTest } from "../redis/redis_tests.ts";
import { RedisServer } from "../redis/server.ts";
import { RUNTIMES } from "../run_script.ts";
import { runtimes } from "../runtimes.ts";

const RECIPE = fileURLToPath(new URL("../../examples/recipes/webhook_deploy.ts", import.meta.url));
const REPOSITORIES = [1, 2, 3, 4, 5, 6].map((i) => `acme/${i}`);

for (const runtime of RUNTIMES) {
  serverTest(`recipes, ${runtime}: webhook_deploy.ts misses no repository while a worker is replaced`, async () => {
    await using server = await RedisServer.start();
    const [file, ...options] = await runtimes[runtime]!();
    const env = { ...process.env, WORKQUEUE_REDIS_URL: server.url };
    const { stdout } = await promisify(execFile)(file!, [...options, RECIPE], { env, timeout: 300_000 });
    const lines = stdout.trimEnd().split("\n");

    const of = (worker: string, what: string) => lines.filter((line) => line.startsWith(`${worker} ${what} `));
    for (const worker of ["worker 1", "worker 2", "worker 3"]) {
      const begun = of(worker, "mirrors").map((line) => line.replace("mirrors", "mirrored"));
      // Each worker finishes all items that it began, even if their handlers were still running when it received
      // SIGTERM.
      assertEquals(of(worker, "mirrored").sort(), begun.sort());
      assertEquals(lines.filter((line) => line.startsWith(worker)).at(-1), `${worker} drained`);
    }
    const replacedAt = lines.findIndex((line) => line.endsWith("drained"));
    const mirroredSince = lines.slice(replacedAt).filter((line) => line.includes("mirrors")).map((line) =>
      line.split(" ").at(-1)!
    );
    assertEquals([...new Set(mirroredSince)].sort(), REPOSITORIES); // the other workers took over
    assertLess(lines.filter((line) => line.includes("mirrors")).length, 60); // usually twelve runs for 120 events
  });
}
