/**
 * Test of processes that are killed at random. For a longer run: `deno task faults:redis --seed N --seconds 60`.
 */

import { assert } from "@std/assert";
import { serverTest } from "../../redis_tests.ts";
import { survive } from "./chaos.ts";

serverTest("four processes, killed at random: 5,000 items end, and none is processed twice at once", async () => {
  const { kills } = await survive({ seed: 1, items: 5_000, processes: 4, ms: 2000 });
  assert(kills > 0);
});
