/**
 * Runs random loads until keys were handed out a number of times, and checks the history of each:
 * `deno task histories:redis --hand-outs 10000000 --seed 1`.
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { RedisServer } from "../server.ts";
import { TimedServer } from "../timed_server.ts";
import { check } from "./check.ts";
import { runLoad } from "./load.ts";
import { LOADS, rulesOf } from "./loads.ts";

const { values } = parseArgs({
  options: { "hand-outs": { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
});
const wanted = Number(values["hand-outs"]);
/** Number of hand-outs after which a line is printed. */
const EACH = 100_000;

await using server = await RedisServer.start();
await using timed = await TimedServer.connect(server.url);
let handOuts = 0;
let printed = 0;
for (let seed = Number(values.seed) * 1_000_000; handOuts < wanted; seed++) {
  for (const [name, load] of Object.entries(LOADS)) {
    const result = check([await runLoad(timed, { ...load, seed, size: 10 })], rulesOf(load));
    handOuts += result.handOuts;
    if (result.wrong.length > 0) {
      console.error(`Wrong with ${name}, seed ${seed}:\n${result.wrong.map((each) => each.join(": ")).join("\n")}`);
      process.exit(1);
    }
  }
  if (handOuts - printed < EACH) continue;
  printed = handOuts;
  console.log(`${handOuts.toLocaleString("en")} hand-outs`);
}
console.log(`Nothing was wrong with ${handOuts.toLocaleString("en")} hand-outs.`);
