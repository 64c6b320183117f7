import type { MetricsProvider } from "@workqueue/core";

/**
 * Logarithm of the ratio between neighboring steps of the histogram. As a result, a percentile is off by at most half a
 * percent.
 */
const STEP = Math.log(1.01);
/** Smallest number that the histogram records. A smaller number is recorded as this number. */
const SMALLEST = 1e-6;

/**
 * Histogram of observed numbers, for percentiles. The histogram's size doesn't grow with the number of observations.
 */
export class Samples {
  /** Number of observations for each step of the histogram. */
  readonly #counts = new Map<number, number>();
  #count = 0;

  /** Adds a number. */
  observe(value: number): void {
    const step = Math.round(Math.log(Math.max(value, SMALLEST)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#count++;
  }

  /**
   * Returns a percentile by the "nearest rank" method: the smallest observed number that is greater than or equal to at
   * least the given fraction of all observed numbers.
   *
   * @param part The fraction, above 0 and up to 1: 0.5 for the median.
   * @returns The percentile; `undefined` if there are no observations.
   */
  percentile(part: number): number | undefined {
    let left = Math.ceil(part * this.#count);
    for (const [step, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.exp(step * STEP);
    }
    return undefined;
  }
}

const ignored = { inc() {}, dec() {}, set() {} };

/** Metrics of a queue. Keeps only the metrics that the summary shows. */
export class RunMetrics implements MetricsProvider {
  /** Seconds from adding an item to the queue until the item was handed out. */
  readonly queueWait: Samples = new Samples();
  /** Duration of each attempt, in seconds. */
  readonly workTime: Samples = new Samples();

  /** See {@linkcode MetricsProvider}. */
  queueLatency = (): Samples => this.queueWait;
  /** See {@linkcode MetricsProvider}. */
  workDuration = (): Samples => this.workTime;
  /** Ignored. */
  depth = (): typeof ignored => ignored;
  /** Ignored. */
  adds = (): typeof ignored => ignored;
  /** Ignored. */
  retries = (): typeof ignored => ignored;
  /** Ignored. */
  unfinishedWork = (): typeof ignored => ignored;
  /** Ignored. */
  longestRunningProcessor = (): typeof ignored => ignored;
}
