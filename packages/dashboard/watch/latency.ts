import type { TimesRecorder } from "@workqueue/core/metrics";
import type { Latency, Percentiles } from "../api.ts";
import { Histogram } from "./histogram.ts";

/** Longest time that the percentiles cover, in milliseconds. */
const WINDOW = 15 * 60_000;
/** Time after which a new period begins, in milliseconds. */
const PERIOD = 60_000;

/** Times that were recorded in one period. */
interface Period {
  /** Time at which the period began, on the monotonic clock, in milliseconds. */
  readonly since: number;
  readonly waiting: Histogram;
  readonly work: Histogram;
}

/**
 * Times that a queue recorded in the last fifteen minutes. The times of each minute have their own histograms, so that
 * they can be dropped when they are too old.
 */
export class LatencyWindow implements TimesRecorder {
  /** Periods, the current period last. */
  #periods: Period[];

  /** `now` is the current time on the monotonic clock, in milliseconds. */
  constructor(now: number) {
    this.#periods = [newPeriod(now)];
  }

  waited(ms: number): void {
    this.#current.waiting.add(ms);
  }

  worked(ms: number): void {
    this.#current.work.add(ms);
  }

  /** Begins a new period if the current period is over, and drops old periods. Called every few seconds. */
  advance(now: number): void {
    if (now - this.#current.since >= PERIOD) this.#periods.push(newPeriod(now));
    this.#periods = this.#periods.filter(({ since }) => now - since < WINDOW);
  }

  percentiles(now: number): Latency {
    this.advance(now);
    return {
      overMs: Math.round(now - this.#periods[0]!.since),
      waiting: percentilesOf(this.#periods.map(({ waiting }) => waiting)),
      work: percentilesOf(this.#periods.map(({ work }) => work)),
    };
  }

  get #current(): Period {
    return this.#periods.at(-1)!;
  }
}

function newPeriod(since: number): Period {
  return { since, waiting: new Histogram(), work: new Histogram() };
}

function percentilesOf(histograms: readonly Histogram[]): Percentiles {
  const all = new Histogram();
  for (const histogram of histograms) all.merge(histogram);
  return { count: all.count, p50: all.percentile(0.5), p90: all.percentile(0.9), p99: all.percentile(0.99) };
}
