import type { Counter, Histogram, MetricsProvider, SettableGauge } from "@workqueue/core";
import { clearTimeout, setTimeout } from "node:timers";

/** How often the metrics of work in progress are set, in milliseconds, as those of a queue in memory are. */
const UPDATE_PERIOD = 500;

/**
 * Measures what this process does with a queue, of which the sum over all processes is true. `Lease` is what work in progress is
 * known by.
 */
export class ProcessMetrics<Lease> {
  readonly #queueLatency: Histogram;
  readonly #workDuration: Histogram;
  readonly #unfinishedWork: SettableGauge;
  readonly #longestRunningProcessor: SettableGauge;
  readonly #retries: Counter;
  readonly #onError: (error: unknown) => void;
  readonly #startedAt = new Map<Lease, number>();
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** What the provider throws goes to `onError`, and keeps nobody from working. */
  constructor(provider: MetricsProvider, queue: string, onError: (error: unknown) => void) {
    this.#queueLatency = provider.queueLatency(queue);
    this.#workDuration = provider.workDuration(queue);
    this.#unfinishedWork = provider.unfinishedWork(queue);
    this.#longestRunningProcessor = provider.longestRunningProcessor(queue);
    this.#retries = provider.retries(queue);
    this.#onError = onError;
  }

  /** An item was handed out to this process, which had been ready for a number of milliseconds. */
  taken(lease: Lease, readyFor: number): void {
    this.#startedAt.set(lease, performance.now());
    if (this.#timer === undefined) this.#updateLater();
    this.#measure(() => this.#queueLatency.observe(readyFor / 1000));
  }

  /** The work on it has ended. */
  ended(lease: Lease): void {
    const startedAt = this.#startedAt.get(lease);
    if (!this.#startedAt.delete(lease)) return;
    this.#measure(() => this.#workDuration.observe((performance.now() - startedAt!) / 1000));
  }

  /** It goes back as it came. */
  handedBack(lease: Lease): void {
    this.#startedAt.delete(lease);
  }

  /** An item was added with a delay, or through the limiter. */
  retried(): void {
    this.#measure(() => this.#retries.inc());
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
    this.#measure(() => {
      this.#unfinishedWork.set(total);
      this.#longestRunningProcessor.set(longest);
    });
  }

  #measure(measure: () => void): void {
    try {
      measure();
    } catch (error) {
      this.#onError(error);
    }
  }
}
