/**
 * Test of eight processes that are killed at random. For a longer run: `deno task faults:redis --seed N --seconds 60`.
 */

import { assert } from "@std/assert";
import { serverTest } from "../../redis_tests.ts";
import { survive } from "./chaos.ts";

serverTest("eight processes, killed at random: 20,000 items end, and none is processed twice at once", async () => {
  const { kills } = await survive({ seed: 1, items: 20_000, processes: 8, ms: 4000 });
  assert(kills > 0);
});
