/**
 * Runs the fault tests that take too long for the test suite. For example,
 * `deno task faults:redis --seed N --seconds 60` takes about 4 minutes. `--seconds` sets the time during which
 * processes are killed at random. The option doesn't limit the duration of the other tests.
 */

import { parseArgs } from "node:util";
import { checkRedisOwners } from "../bench.ts";
import { RedisServer } from "../server.ts";
import { serverAway } from "./away.ts";
import { delayedReplies } from "./delayed_replies.ts";
import { survive } from "./process/chaos.ts";
import { workWithoutReplicas } from "./replicas.ts";
import { seeded } from "./seeded.ts";
import { survivors } from "./survivors.ts";
import { rareVisitors } from "./visitors.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, seconds: { type: "string", default: "60" } },
});
const seed = Number(values.seed);
const ms = Number(values.seconds) * 1000;

console.log("Killing a holder with a lease of 1 s; others come for 250 ms, every 1 s and every 3.3 s.");
const visits = [await rareVisitors({ every: 1000, atMost: 3 }), await rareVisitors({ every: 3300, atMost: 2 })];
console.log(`Visits ${visits.join(" and ")} got its item.`);

console.log("Killing one of 3 processes, each with 20 handlers of 1 s.");
console.log(`The two others ended ${await survivors()} items a second, of 40 at most.`);

console.log(`Delaying replies for ${ms / 3000} s by up to three leases, with seed ${seed}.`);
const { items: delayed, begun } = await delayedReplies({ random: seeded(seed), ms: ms / 3 });
console.log(`All ${delayed} items ended, after ${begun} handlers began.`);

const RUNS = 2000;
console.log(`Letting owners do ${RUNS} random things while the server's clock jumps, with seed ${seed}.`);
{
  await using server = await RedisServer.start();
  await checkRedisOwners(server.url, { runs: RUNS, seed });
}
console.log("No key had two owners, and none was lost.");

console.log(`Killing processes at random for ${ms / 1000} s, with seed ${seed}.`);
const { kills, items, handled } = await survive({ seed, items: 20_000, processes: 8, ms });
console.log(`${kills} processes were killed. All ${items} items ended, after ${handled} times of work on them.`);

console.log("Taking the server away for 40 s, with leases of 30 s.");
await Promise.all(
  (["kill", "stop", "network", "replicas"] as const).map((how) =>
    serverAway({ how, leaseDuration: 30_000, away: 40_000 })
  ),
);
console.log("Nobody's item was taken away.");

console.log(`Taking the server's replicas away 30 times, with seed ${seed}.`);
const { refused } = await workWithoutReplicas({ seed, items: 10_000, times: 30 });
console.log(`The server refused ${refused} calls. All 10000 items were worked on, and each of them once.`);
