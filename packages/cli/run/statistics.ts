import type { MetricsProvider } from "@workqueue/core";

/** The ratio of a number to the next one that is told from it: what is said of them is off by at most half a percent. */
const STEP = Math.log(1.01);
/** All smaller numbers are taken for this one. */
const SMALLEST = 1e-6;

/** Numbers that were observed, for percentiles. It takes the same room for any count of them. */
export class Samples {
  /** How many numbers there are by their logarithm, in steps. */
  readonly #counts = new Map<number, number>();
  #count = 0;

  /** Adds a number. */
  observe(value: number): void {
    const step = Math.round(Math.log(Math.max(value, SMALLEST)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.#count++;
  }

  /**
   * The smallest number that is at least as great as that part of all (the "nearest rank").
   *
   * @param part The part, above 0 and up to 1: 0.5 for the median.
   * @returns The number; `undefined` if none was observed.
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

/** Keeps what the summary tells of a queue's metrics, and ignores the others. */
export class RunMetrics implements MetricsProvider {
  /** Seconds from each add until the item was handed out. */
  readonly queueWait: Samples = new Samples();
  /** Seconds of each attempt. */
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
