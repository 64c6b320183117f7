import type { MetricsProvider } from "@workqueue/core";
import { type Meter, meterOf } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";

/** How often the metrics of work in progress are set, in milliseconds, as those of a queue in memory are. */
const UPDATE_PERIOD = 500;

/**
 * Measures what this process does with a queue, of which the sum over all processes is true. `Lease` is what work in
 * progress is known by.
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

  /** An item was handed out to this process, which had been ready for a number of milliseconds. */
  taken(lease: Lease, readyFor: number): void {
    this.#startedAt.set(lease, performance.now());
    if (this.#timer === undefined) this.#updateLater();
    this.#queueLatency.observe(readyFor / 1000);
  }

  /** The work on it has ended. */
  ended(lease: Lease): void {
    const startedAt = this.#startedAt.get(lease);
    if (!this.#startedAt.delete(lease)) return;
    this.#workDuration.observe((performance.now() - startedAt!) / 1000);
  }

  /** It goes back as it came. */
  handedBack(lease: Lease): void {
    this.#startedAt.delete(lease);
  }

  /** An item was added with a delay, or through the limiter. */
  retried(): void {
    this.#retries.inc();
  }

  /** Nothing is worked on any more, nor will be. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#update();
  }

  /** There is a timer while there is work in progress, and it keeps no process alive. */
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
