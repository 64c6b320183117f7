/** Tests of the dashboard on each runtime's server, over the network and under a sub-path. Runs only on Deno. */

import { assertEquals } from "@std/assert";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testAtOnce } from "../../at_once.ts";
import { bundle } from "../../bundle.ts";
import { runScript } from "../../run_script.ts";

const SCRIPT = new URL("serve.ts", import.meta.url);

/** Time after which a process that doesn't end is killed, in milliseconds. */
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
  unaddressed: [403, 403, 403], // two requests without the server's second argument, and one through a Unix socket
  reports: [
    "workqueue dashboard: allowLocal denied a request because it doesn't know the client's address. " +
    "Pass the server's second argument: Deno.serve((request, info) => dashboard.fetch(request, info))",
  ],
  type: "text/event-stream",
  events: ["state", "queue", "state", "queue"],
  looked: true,
};

/** Serves the dashboard with Hono on Node, from a bundle, because Node can't find the packages of the tests. */
async function serveOnNode(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "workqueue_dashboard_"));
  try {
    const script = join(folder, "serve.mjs");
    writeFileSync(
      script,
      await bundle({
        entryPoints: [fileURLToPath(SCRIPT)],
        platform: "node",
        // The first matching alias is used.
        alias: Object.fromEntries(
          ["@hono/node-server", "hono/ws", "hono"].map((name) => [name, fileURLToPath(import.meta.resolve(name))]),
        ),
      }),
    );
    const { stdout } = await promisify(execFile)("node", [script], { timeout: DEADLINE, killSignal: "SIGKILL" });
    return [stdout];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Functions that serve the dashboard in a new process and return the output of that process, by test name. */
const SERVERS: Record<string, () => Promise<string[]>> = {
  "Deno.serve serves the dashboard": () => runScript("Deno", SCRIPT),
  "Bun.serve serves the dashboard": () => runScript("Bun", SCRIPT),
  "Hono serves it on Node, by @hono/node-server": serveOnNode,
};

testAtOnce(
  Object.entries(SERVERS).map(([name, serve]) => ({
    name: `servers: ${name}, and the process ends by itself`,
    fn: async () => assertEquals(JSON.parse((await serve()).at(-1)!), EXPECTED),
  })),
);
