import type { MetricsProvider } from "@workqueue/core";
import { type Meter, meterOf, type TimesRecorder } from "@workqueue/core/metrics";
import { clearTimeout, setTimeout } from "node:timers";
import type { ProcessTimes } from "./process_times.ts";

/**
 * Interval between updates of metrics for work in progress, in milliseconds. In-memory queues use the same interval.
 */
const UPDATE_PERIOD = 500;

/**
 * Measures this process's work on a queue. To combine the values of several processes, add them up. For
 * `longestRunningProcessor`, take the maximum instead.
 */
export class ProcessMetrics implements TimesRecorder {
  readonly #queueLatency: Meter;
  readonly #workDuration: Meter;
  readonly #unfinishedWork: Meter;
  readonly #longestRunningProcessor: Meter;
  readonly #retries: Meter;
  readonly #times: ProcessTimes<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(provider: MetricsProvider, queue: string, times: ProcessTimes<unknown>) {
    this.#queueLatency = meterOf(provider, "queueLatency", queue);
    this.#workDuration = meterOf(provider, "workDuration", queue);
    this.#unfinishedWork = meterOf(provider, "unfinishedWork", queue);
    this.#longestRunningProcessor = meterOf(provider, "longestRunningProcessor", queue);
    this.#retries = meterOf(provider, "retries", queue);
    this.#times = times;
  }

  waited(ms: number): void {
    if (this.#timer === undefined) this.#updateLater();
    this.#queueLatency.observe(ms / 1000);
  }

  worked(ms: number): void {
    this.#workDuration.observe(ms / 1000);
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
      if (this.#times.isWorking) this.#updateLater();
      this.#update();
    }, UPDATE_PERIOD).unref();
  }

  #update(): void {
    const now = performance.now();
    let total = 0;
    let longest = 0;
    for (const startedAt of this.#times.started) {
      const seconds = (now - startedAt) / 1000;
      total += seconds;
      longest = Math.max(longest, seconds);
    }
    this.#unfinishedWork.set(total);
    this.#longestRunningProcessor.set(longest);
  }
}
