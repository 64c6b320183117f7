/**
 * Demo of `workqueue run` that takes ten seconds. The command delivers ten orders to four services, one of which is
 * down at first. The demo prints the whole command before running it.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { exitWith, main } from "./main.ts";
import { EXIT } from "./system/exit_codes.ts";
import { stderr } from "./system/standard_streams.ts";

const COMMAND = `workqueue run --input examples/webhooks.txt --concurrency 4 \\
    --backoff 400ms..10s -- sh examples/deliver_webhook.sh {}`;
/** Pause before the demo runs the command, in milliseconds, so that the user has time to read the command. */
const TIME_TO_READ = 1000;

process.chdir(fileURLToPath(new URL("../../", import.meta.url)));
if (spawnSync("sh", ["-c", ":"]).error !== undefined) {
  stderr.write(
    "Cannot run the demo: it needs sh, which is not on the PATH. On Windows, run it in WSL or Git Bash.\n",
  );
  await exitWith(EXIT.usage);
}
stderr.write(`# Delivers ten orders to four services. One of them, billing, is down at first.\n$ ${COMMAND}\n`);
await delay(TIME_TO_READ);
const [_workqueue, ...args] = COMMAND.split(/[\s\\]+/);
const exitCode = await main(args);
if (exitCode === EXIT.succeeded) {
  stderr.write("\n# To run it from a clone without installing it, use npx -y deno task run …\n");
}
await exitWith(exitCode);
