/** Probes: programs that print figures of this queue alone. */

import { type Bound, FEW_ROUNDS, type Row } from "../rows/row.ts";
import { callbackWorks } from "./callback_works.ts";
import { measureAllCallbacks } from "./callbacks.ts";
import { runScript, type Runtime } from "./runtimes.ts";
import { measureStartUp } from "./start_up.ts";

/** Probe. Its contenders are the names of the figures that it returns. */
export interface Probe extends Row {
  measure(runtime: Runtime): Promise<Readonly<Record<string, number>>>;
}

const script = (name: string): Probe["measure"] => async (runtime) => JSON.parse(await runScript(runtime, name));

/** Kinds of work in `latency.ts`. */
const BUSY_WITH = ["one pool", "three pools", "`parallelizeUntil`", "a loop over a queue"];

/** Probes, by short name. */
export const probes: Readonly<Record<string, Probe>> = {
  memory: {
    title: "memory of a million keys",
    note: "Without the strings themselves.",
    unit: "bytes a key",
    rounds: FEW_ROUNDS,
    measure: script("memory.ts"),
    bounds: [
      { contender: "delayed keys", atMost: 150 },
      { contender: "delayed keys, after draining", atMost: 1 },
      { contender: "ready keys, after draining", atMost: 1 },
      { contender: "ready keys, by priority", atMost: 85, on: ["deno"] },
    ],
  },
  startUp: {
    title: "start-up of a process that imports the main entry, beyond that of a process with an empty module",
    unit: "ms",
    rounds: FEW_ROUNDS,
    measure: measureStartUp,
    bounds: ["in TypeScript", "in JavaScript"].flatMap((contender): Bound[] => [
      { contender, atMost: 40, on: ["deno"] },
      { contender, atMost: 20, on: ["bun"] },
    ]),
  },
  lateness: {
    title: "lateness of 100,000 items that become due over 5 s, workers busy half of the time",
    unit: "ms",
    rounds: FEW_ROUNDS,
    measure: script("precision.ts"),
    bounds: [{ contender: "99th percentile", atMost: 5 }],
  },
  latency: {
    title: "time to answer a request while the process is busy with other work",
    unit: "ms",
    rounds: FEW_ROUNDS,
    measure: script("latency.ts"),
    bounds: BUSY_WITH.flatMap((work): Bound[] => [
      { contender: `${work}: 99th percentile`, atMost: 50 },
      { contender: `${work}: % of the time for the work`, atLeast: 95, unit: "%" },
    ]),
  },
  callbacks: {
    title: "longest callback, garbage collection aside",
    note:
      "Callers act on 1,000 keys in each callback. Only queues on Redis have `promoteDelayed`; in memory, callers make " +
      "delayed keys ready with `cancelDelayed` and `add`, as the dashboard does. The time in which other processes had the " +
      "CPU is left out. Garbage collection is what Node's `PerformanceObserver`, V8's `--trace-gc` (on Deno) and " +
      "`BUN_JSC_logGC` (on Bun) tell; the figure is the longest in one callback.",
    unit: "ms",
    rounds: FEW_ROUNDS,
    measure: measureAllCallbacks,
    bounds: Object.keys(callbackWorks).map((contender) => ({ contender, atMost: 15 })),
  },
  simulation: {
    title: "simulation of a day with a million attempts",
    note: "Besides seconds, the table has other figures, as named. The memory includes the runtime.",
    unit: "s",
    rounds: FEW_ROUNDS,
    measure: script("simulation.ts"),
    bounds: [
      { contender: "a day", atMost: 30 },
      { contender: "attempts in the day", atLeast: 1_000_000, unit: "attempts" },
      { contender: "most MB of memory of the process", atMost: 200, unit: "MB" },
      {
        contender: "ratio of the time per attempt to that of a day with 100,000 attempts",
        atMost: 1.2,
        unit: "×",
      },
    ],
  },
};
