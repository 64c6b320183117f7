import type { MetricsProvider } from "@workqueue/core";
import { type Meter, meterOf } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";

/**
 * Interval between updates of metrics for work in progress, in milliseconds. In-memory queues use the same interval.
 */
const UPDATE_PERIOD = 500;

/**
 * Measures this process's work on a queue. To combine the values of several processes, add them up. For
 * `longestRunningProcessor`, take the maximum instead. Each piece of work in progress is identified by its `Lease`.
 */
export class ProcessMetrics<Lease> {
  readonly #queueLatency: Meter;
  readonly #workDuration: Meter;
  readonly #unfinishedWork: Meter;
  readonly #longestRunningProcessor: Meter;
  readonly #retries: Meter;
  readonly #startedAt = new Map<Lease, number>();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(provider: MetricsProvider, queue: string) {
    this.#queueLatency = meterOf(provider, "queueLatency", queue);
    this.#workDuration = meterOf(provider, "workDuration", queue);
    this.#unfinishedWork = meterOf(provider, "unfinishedWork", queue);
    this.#longestRunningProcessor = meterOf(provider, "longestRunningProcessor", queue);
    this.#retries = meterOf(provider, "retries", queue);
  }

  /** Records that an item was handed out to this process. The item had been ready for `readyFor` milliseconds. */
  taken(lease: Lease, readyFor: number): void {
    this.#startedAt.set(lease, performance.now());
    if (this.#timer === undefined) this.#updateLater();
    this.#queueLatency.observe(readyFor / 1000);
  }

  /** Records the end of the work on an item. */
  ended(lease: Lease): void {
    const startedAt = this.#startedAt.get(lease);
    if (!this.#startedAt.delete(lease)) return;
    this.#workDuration.observe((performance.now() - startedAt!) / 1000);
  }

  /** Records that an item was handed back. The work duration of such an item is not measured. */
  handedBack(lease: Lease): void {
    this.#startedAt.delete(lease);
  }

  /** Counts an item that was added with a delay or through the limiter. */
  retried(): void {
    this.#retries.inc();
  }

  /** Stops measuring. All work must have ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#update();
  }

  /** Schedules the next update. The timer runs only during work, and doesn't keep the process alive. */
  #updateLater(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#startedAt.size > 0) this.#updateLater();
      this.#update();
    }, UPDATE_PERIOD).unref();
  }

  #update(): void {
    const now = performance.now();
    let total = 0;
    let longest = 0;
    for (const startedAt of this.#startedAt.values()) {
      const seconds = (now - startedAt) / 1000;
      total += seconds;
      longest = Math.max(longest, seconds);
    }
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(longest);
  }
}
