/**
 * Measures the longest callback of workloads with a million keys: the longest time for which the event loop is blocked.
 *
 *     deno run -A --config deno.all.json bench/peers/callbacks.ts ["a million due at once" …] [--on bun] [--rounds 3]
 *
 * @module
 */

import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { medianOf } from "../statistics.ts";
import { BENCH, output } from "../machine.ts";
import { callbackWorks } from "./callback_works.ts";
import { type Blocked, longestOf, type Printed } from "./gaps.ts";
import { findRuntimes, type Runtime } from "./runtimes.ts";

const CHILD = fileURLToPath(new URL("callback_child.ts", import.meta.url));

/** Measures a workload once. */
export async function measureCallbacks({ name, command }: Runtime, work: string): Promise<Blocked> {
  const folder = await Deno.makeTempDir({ prefix: "callbacks-" });
  try {
    const [log, result] = [`${folder}/log`, `${folder}/result`];
    const [program, ...options] = command;
    const logging = { deno: ["--v8-flags=--expose-gc,--trace-gc"], bun: [], node: [] }[name];
    await output(
      "sh",
      ["-c", 'exec "$@" >"$LOG" 2>&1', "sh", program, ...options, ...logging, CHILD, work, result],
      BENCH,
      {
        LOG: log,
        BUN_JSC_logGC: "1",
        // Otherwise, Bun frees the memory of collected objects in callbacks of its own, which the log leaves out.
        BUN_JSC_sweepSynchronously: "1",
      },
    );
    const printed = JSON.parse(await Deno.readTextFile(result)) as Printed;
    return longestOf(printed, await Deno.readTextFile(log));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Measures every workload once. Returns the longest callback and the longest garbage collection of each. */
export async function measureAllCallbacks(runtime: Runtime): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const work of Object.keys(callbackWorks)) {
    const { longest, collection } = await measureCallbacks(runtime, work);
    figures[work] = longest;
    figures[`${work}: garbage collection`] = collection;
  }
  return figures;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { on: { type: "string" }, rounds: { type: "string", default: "1" } },
    allowPositionals: true,
  });
  const runtimes = (await findRuntimes()).filter(({ name }) => values.on === undefined || name === values.on);
  console.log("longest callback, garbage collection aside | longest collection | longest of both together");
  for (const work of positionals.length > 0 ? positionals : Object.keys(callbackWorks)) {
    for (const runtime of runtimes) {
      const rounds: Blocked[] = [];
      for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measureCallbacks(runtime, work));
      const median = (time: keyof Blocked) => medianOf(rounds.map((round) => round[time]));
      const times = [median("longest"), median("collection"), median("total")];
      const cells = times.map((ms) => `${ms.toFixed(1)} ms`.padStart(9));
      console.log(`${cells.join(" | ")}  ${runtime.name.padEnd(4)}  ${work}`);
    }
  }
}
