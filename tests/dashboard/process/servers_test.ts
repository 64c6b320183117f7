/** The dashboard behind the servers of the runtimes, over the network, under a sub-path. Only on Deno. */

import { assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "../../bundle.ts";
import { runScript, RUNTIMES } from "../../run_script.ts";

const SCRIPT = new URL("serve.ts", import.meta.url);

/** Guards against a process that never ends, and nothing else. */
const DEADLINE = 300_000;

const EXPECTED = {
  redirected: true,
  isPage: true,
  policy: true,
  names: ["images"],
  mayControl: true,
  control: 200,
  concurrency: 7,
  rebound: 403,
  type: "text/event-stream",
  events: ["state", "queue", "state", "queue"],
  looked: true,
};

for (const runtime of RUNTIMES) {
  Deno.test(`servers: ${runtime}.serve serves the dashboard, and the process ends by itself`, async () => {
    assertEquals(JSON.parse((await runScript(runtime, SCRIPT)).at(-1)!), EXPECTED);
  });
}

Deno.test("servers: Hono serves it on Node, by @hono/node-server, and the process ends by itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "workqueue_dashboard_"));
  try {
    const script = join(folder, "serve.mjs");
    writeFileSync(
      script,
      await bundle({
        entryPoints: [fileURLToPath(SCRIPT)],
        platform: "node",
        // The first that fits is taken.
        alias: Object.fromEntries(
          ["@hono/node-server", "hono/ws", "hono"].map((name) => [name, fileURLToPath(import.meta.resolve(name))]),
        ),
      }),
    );
    const { stdout } = await promisify(execFile)("node", [script], { timeout: DEADLINE, killSignal: "SIGKILL" });
    assertEquals(JSON.parse(stdout), EXPECTED);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
