import { do_not_optimize, measure } from "mitata";

/** Nanoseconds for which a workload runs before it is measured, because JavaScript engines compile code in steps. */
const WARM_UP = 200e6;
/** Nanoseconds for which a workload is measured. */
const MEASURED = 300e6;

/** Statistics by mitata. All times are in nanoseconds. */
export type Statistics = Awaited<ReturnType<typeof measure>>;

export interface MeasureOptions {
  /** Smallest number of samples, also of runs that take long. */
  readonly minSamples?: number;
  /** Whether to collect garbage before and after each run, and to measure the collections. */
  readonly collects?: boolean;
}

/** Measures runs of a workload with mitata: warms up, and then takes a sample of each run. */
export async function measureRuns(
  run: () => unknown,
  { minSamples = 1, collects = false }: MeasureOptions = {},
): Promise<Statistics> {
  const sample = () => {
    const result = run();
    do_not_optimize(result);
    return result; // mitata awaits it if it is a promise
  };
  const keepsAll = { samples_threshold: Infinity }; // by default, mitata leaves out the four most extreme samples
  const warmUp = await measure(sample, { ...keepsAll, gc: false, min_samples: 1, min_cpu_time: WARM_UP });
  // mitata runs the workload once before its first sample. That run is enough of a warm-up if it takes long.
  if (warmUp.min >= MEASURED && warmUp.samples.length >= minSamples) return warmUp;
  // By default, mitata collects garbage before the first sample, and the next runs are slow on V8.
  const collections = collects ? { inner_gc: true } : { gc: false };
  return await measure(sample, { ...keepsAll, ...collections, min_samples: minSamples, min_cpu_time: MEASURED });
}
