/** Test that a queue in a file behaves like client-go: see `tests/contracts/engine_traces.ts`. */

import { engineTraces } from "../../contracts/engine_traces.ts";
import { openStore } from "../model_store.ts";

engineTraces((name, run) => {
  Deno.test(`SQLite, ${name}`, async () => {
    await using store = openStore();
    await run(store);
  });
});
