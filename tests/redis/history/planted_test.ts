/** Tests that the checks of histories notice bugs in the scripts. */

import { assert } from "@std/assert";
import { redisTest } from "../redis_tests.ts";
import { TimedServer } from "../timed_server.ts";
import { check } from "./check.ts";
import { runLoad } from "./load.ts";
import { LOADS, rulesOf } from "./loads.ts";
import { BUGS, plant } from "./planted.ts";

for (const [name, bug] of Object.entries(BUGS)) {
  redisTest(`history: a planted bug is noticed: ${name}`, async ({ url }) => {
    await using server = await TimedServer.connect(url, plant(bug));
    const load = LOADS[bug.load];
    const { wrong } = check([await runLoad(server, load)], rulesOf(load));
    assert(wrong.some(([check]) => check === bug.noticedBy), `not noticed; instead: ${wrong.join("\n")}`);
  });
}
