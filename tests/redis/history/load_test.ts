/** Tests of histories of random loads. */

import { assert, assertEquals } from "@std/assert";
import { redisTest } from "../redis_tests.ts";
import { TimedServer } from "../timed_server.ts";
import { check } from "./check.ts";
import { runLoad } from "./load.ts";
import { LOADS, rulesOf } from "./loads.ts";

for (const [name, load] of Object.entries(LOADS)) {
  redisTest(`history: no violation is found in ${name}`, async ({ url }) => {
    await using server = await TimedServer.connect(url);
    const { handOuts, wrong } = check([await runLoad(server, load)], rulesOf(load));
    assertEquals(wrong, []);
    assert(handOuts > load.steps / 4, `${handOuts} hand-outs`);
  });
}
