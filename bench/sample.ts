/** Measurement of a workload within one process. */

/**
 * Milliseconds for which a workload runs before it is measured, because the compilers of JavaScript engines need many
 * runs.
 */
const WARM_UP = 200;
/** Milliseconds for which a workload is measured. */
const MEASURED = 300;

/** Returns the durations of runs, in milliseconds, after other runs that warm up. */
export async function sample(run: () => unknown): Promise<number[]> {
  await timesOf(run, WARM_UP);
  return await timesOf(run, MEASURED);
}

/** Runs the workload for some milliseconds, at least once. */
async function timesOf(run: () => unknown, ms: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  do {
    const began = performance.now();
    await run();
    times.push(performance.now() - began);
  } while (performance.now() < end);
  return times;
}
