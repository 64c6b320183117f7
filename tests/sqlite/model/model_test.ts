/** Comparison of the SQLite engine with the in-memory queue, under random operations. */

import { engineModel } from "../../contracts/engine_model.ts";
import { openStore } from "../model_store.ts";

engineModel((name, run) => {
  Deno.test(`SQLite, ${name}`, async () => {
    await using store = openStore();
    await run(store);
  });
});
