/** Comparison of the SQLite engine with the in-memory queue, under random operations. */

import { engineModel } from "../../contracts/engine_model.ts";
import { Bench } from "../bench.ts";

engineModel((name, run) => {
  Deno.test(`SQLite, ${name}`, async () => {
    await using bench = new Bench();
    await run({
      open: (name, clock, settings) => bench.open({ ...settings, name, clock }),
      clear: () => Promise.resolve(), // each queue has its own name
    });
  });
});
