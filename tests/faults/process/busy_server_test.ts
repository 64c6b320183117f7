/** Tests that processes answer requests while they are busy with items, on Deno and on Bun. */

import { assertEquals } from "@std/assert";
import { runScript, RUNTIMES } from "../../run_script.ts";

const SCRIPT = new URL("busy_server.ts", import.meta.url);

for (const runtime of RUNTIMES) {
  for (const name of ["a pool", "three pools", "parallelizeUntil", "a loop whose body adds again"]) {
    Deno.test(`a process on ${runtime} whose CPU ${name} keeps busy answers requests before the work is done`, async () => {
      assertEquals(await runScript(runtime, SCRIPT, name), ["enough"]);
    });
  }
}
