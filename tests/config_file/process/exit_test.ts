/**
 * Test that a watch doesn't keep the process alive. `tests/installs/` tests this on Node. The test runs only on Deno,
 * which starts the other runtimes.
 */

import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { runScript, RUNTIMES } from "../../run_script.ts";

for (const runtime of RUNTIMES) {
  Deno.test(`watching, ${runtime}: a process that has nothing else to do ends by itself`, async () => {
    const file = fileURLToPath(new URL("../../../examples/workqueue.json", import.meta.url));
    assertEquals(await runScript(runtime, new URL("unattended.ts", import.meta.url), file), ["watches"]);
  });
}
