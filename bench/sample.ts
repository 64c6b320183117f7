/** Measurement of a workload within one process. */

/** The compilers of JavaScript engines need many runs of a workload, so that many runs come first, unmeasured. */
const WARM_UP = { ms: 250, runs: 1 };
const MEASURED = { ms: 300, runs: 2 };

/** Returns the durations of runs, in milliseconds, after other runs that warm up. */
export async function sample(run: () => unknown): Promise<number[]> {
  await timesOf(run, WARM_UP);
  return await timesOf(run, MEASURED);
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
