/** Measurement of a workload within one process. */

import { medianOf } from "./statistics.ts";

/** The compilers of JavaScript engines need many runs of a workload, so that many runs come first, unmeasured. */
const WARM_UP = { ms: 250, runs: 2 };
const MEASURED = { ms: 300, runs: 3 };

/** Returns the median duration of a run, in milliseconds, after some runs that warm up. */
export async function sample(run: () => unknown): Promise<number> {
  await timesOf(run, WARM_UP);
  return medianOf(await timesOf(run, MEASURED));
}

async function timesOf(run: () => unknown, least: { ms: number; runs: number }): Promise<number[]> {
  const times: number[] = [];
  for (const end = performance.now() + least.ms; times.length < least.runs || performance.now() < end;) {
    const began = performance.now();
    await run();
    times.push(performance.now() - began);
  }
  return times;
}
