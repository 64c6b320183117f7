/**
 * Test of the example whose config file is edited. `tests/installs/` tests the example on Node. The test runs only on
 * Deno, which starts the other runtimes.
 */

import { runtimes } from "../../runtimes.ts";
import { tryExample } from "./example.ts";
import { fileURLToPath } from "node:url";

const EXAMPLE = fileURLToPath(new URL("../../../examples/live_limits.ts", import.meta.url));

for (const [runtime, command] of Object.entries(runtimes)) {
  Deno.test(`live_limits.ts, ${runtime}: an edit of its file is reported, with the new behavior`, async () => {
    await tryExample([...await command(), EXAMPLE]);
  });
}
