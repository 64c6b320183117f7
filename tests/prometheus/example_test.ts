import { fileURLToPath } from "node:url";
import { RUNTIMES } from "../run_script.ts";
import { runtimes } from "../runtimes.ts";
import { tryExample } from "./example.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/metrics.ts", import.meta.url));

for (const runtime of RUNTIMES) {
  Deno.test(`prometheus, ${runtime}: examples/metrics.ts serves the metrics of its queue`, async () => {
    await tryExample([...await runtimes[runtime]!(), EXAMPLE]);
  });
}
