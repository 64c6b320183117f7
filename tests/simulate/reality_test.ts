/** Tests of simulations against real runs, which `deno task prove:real --keep` has recorded. */

import { assert } from "@std/assert";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { readTrace } from "../../packages/simulate/trace/read_trace.ts";
import { isClose, ITEMS, PERCENTILES, runs, simulatedWaits, type Waits } from "./reality/runs.ts";

const TRACES = new URL("reality/traces/", import.meta.url);
const measured = JSON.parse(readFileSync(new URL("waits.json", TRACES), "utf8")) as Record<string, Waits>;

for (const run of runs) {
  Deno.test(`reality: the waits of a simulation match a recorded run: ${run.name}`, async () => {
    const trace = gunzipSync(readFileSync(new URL(`${run.name}.jsonl.gz`, TRACES))).toString();
    assert(readTrace(trace).arrivals.length >= ITEMS);
    const simulated = await simulatedWaits(run, trace);
    for (const name of PERCENTILES) {
      const [virtual, real] = [simulated[name], measured[run.name]![name]];
      assert(isClose(virtual, real), `${name}: ${virtual} ms instead of ${real} ms`);
    }
  });
}
