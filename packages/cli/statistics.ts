import type { MetricsProvider } from "@workqueue/core";

/** Numbers that were observed, for percentiles. Eight bytes each, so that millions of them do no harm. */
export class Samples {
  #values = new Float64Array(1024);
  #length = 0;

  /** Adds a number. */
  observe(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  /**
   * The smallest number that is at least as great as that part of all (the "nearest rank").
   *
   * @param part The part, above 0 and up to 1: 0.5 for the median.
   * @returns The number; `undefined` if none was observed.
   */
  percentile(part: number): number | undefined {
    const sorted = this.#values.subarray(0, this.#length).sort();
    return sorted[Math.ceil(part * sorted.length) - 1];
  }
}

const ignored = { inc() {}, dec() {}, set() {} };

/** Keeps what the summary tells of a queue's metrics, every value of it, and ignores the others. */
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
