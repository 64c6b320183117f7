import type { History as HistoryLists, Rates } from "../api.ts";
import type { Look } from "./source.ts";

/** Number of samples to keep: enough for fifteen minutes. */
export const MAX_SAMPLES = 180;
/** Interval between samples, in milliseconds. */
export const SAMPLE_EVERY = 5000;
/** Period over which rates are computed, in milliseconds. */
const RATES_OVER = 60_000;
/** Shortest period over which a trend is known, in milliseconds. */
const MIN_TREND = 30_000;
/** Interval between two points of the trend, in samples. The trend contains every third sample. */
const SAMPLES_A_TREND = 3;

/** Names of the numbers in a sample. An unknown number is `NaN` because typed arrays can't contain `null`. */
const COLUMNS = [
  "at",
  "ready",
  "delayed",
  "processing",
  "failing",
  "becameReady",
  "handedOut",
  "attempts",
  "failed",
  "givenUp",
  "oldest",
] as const;

/** Sample of a queue. `at` is the time on the monotonic clock, in milliseconds. */
export type Sample = Readonly<Record<typeof COLUMNS[number], number>>;

/** Creates a sample from a look at the queue. If the look failed, only the time of the sample is known. */
export function sampleOf(at: number, look: Look | undefined): Sample {
  const { ready = NaN, blocked = NaN, delayed = NaN, processing = NaN, failing, totals } = look ?? {};
  const handedOut = totals?.handedOut ?? NaN;
  return {
    at,
    ready: ready + blocked,
    delayed,
    processing,
    failing: failing ?? NaN,
    becameReady: handedOut + ready + blocked,
    handedOut,
    attempts: totals?.attempts ?? NaN,
    failed: totals?.failed ?? NaN,
    givenUp: totals?.givenUp ?? NaN,
    oldest: look === undefined ? NaN : ready + blocked === 0 ? 0 : look.oldestReadyMs ?? NaN,
  };
}

/** Trend of a number. */
export interface Trend {
  readonly perSecond: number;
  /** Period over which the trend was computed, in milliseconds. */
  readonly ms: number;
  /** Whether the number is larger at the end of the period than at its start. */
  readonly rises: boolean;
}

/** Latest samples of a queue, in a ring buffer of fixed size. */
export class History {
  readonly #columns = Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(MAX_SAMPLES)])) as Record<
    keyof Sample,
    Float64Array
  >;
  /** Number of samples added so far. */
  #added = 0;

  get length(): number {
    return Math.min(this.#added, MAX_SAMPLES);
  }

  add(sample: Sample): void {
    const slot = this.#added++ % MAX_SAMPLES;
    for (const name of COLUMNS) this.#columns[name][slot] = sample[name];
  }

  /** Returns a number from the sample at a position. Position 0 is the oldest sample. */
  #get(name: keyof Sample, place: number): number {
    return this.#columns[name][(this.#added - this.length + place) % MAX_SAMPLES]!;
  }

  /**
   * Returns the change in a number over a period, which is one minute by default. `ms` is the actual length of the
   * period. Returns `undefined` if the change is unknown.
   */
  over(
    name: keyof Sample,
    now: Sample,
    time = RATES_OVER,
  ): { readonly change: number; readonly ms: number } | undefined {
    for (let place = 0; place < this.length; place++) {
      const ms = now.at - this.#get("at", place);
      if (ms > time + SAMPLE_EVERY / 2 || Number.isNaN(this.#get(name, place))) continue;
      const change = now[name] - this.#get(name, place);
      return ms >= 1000 && !Number.isNaN(change) ? { change, ms } : undefined;
    }
    return undefined;
  }

  /**
   * Returns the trend of a number over a period: the slope of the least-squares line through the samples, as `deriv` in
   * Prometheus computes it. Returns `null` if the trend is unknown.
   */
  trendOf(name: keyof Sample, now: Sample, time: number): Trend | null {
    let [count, ms, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0, 0];
    let first: number | undefined;
    const add = (at: number, y: number) => {
      const x = (now.at - at) / 1000;
      if (Number.isNaN(y) || x * 1000 > time) return;
      ms = Math.max(ms, x * 1000);
      first ??= y;
      count++;
      sumX -= x;
      sumY += y;
      sumXX += x * x;
      sumXY -= x * y;
    };
    for (let place = 0; place < this.length; place++) add(this.#get("at", place), this.#get(name, place));
    add(now.at, now[name]);
    const perSecond = (count * sumXY - sumX * sumY) / (count * sumXX - sumX * sumX);
    return ms >= MIN_TREND ? { perSecond, ms, rises: now[name] > first! } : null;
  }

  /**
   * Returns rates per second over the last minute, or since the first sample if that sample is less than a minute old.
   */
  rates(now: Sample): Rates {
    const rate = (name: keyof Sample) => {
      const over = this.over(name, now);
      return over === undefined ? null : round(Math.max(over.change, 0) / (over.ms / 1000));
    };
    return { in: rate("becameReady"), out: rate("handedOut"), failures: rate("failed"), givenUp: rate("givenUp") };
  }

  /**
   * Returns the samples as lists. `now` is the current time on the monotonic clock, and `time` is the current time as
   * returned by `Date.now()`.
   */
  lists(now: number, time: number): HistoryLists {
    const places = Array.from({ length: this.length }, (_, place) => place);
    const list = (name: keyof Sample) => places.map((place) => known(this.#get(name, place)));
    const rates = (name: keyof Sample) =>
      places.map((place) => {
        if (place === 0) return null;
        const change = this.#get(name, place) - this.#get(name, place - 1);
        const seconds = (this.#get("at", place) - this.#get("at", place - 1)) / 1000;
        return Number.isNaN(change) || seconds <= 0 ? null : round(Math.max(change, 0) / seconds);
      });
    return {
      time: places.map((place) => Math.round(time - now + this.#get("at", place))),
      ready: list("ready"),
      delayed: list("delayed"),
      processing: list("processing"),
      failing: list("failing"),
      in: rates("becameReady"),
      out: rates("handedOut"),
      failures: rates("failed"),
    };
  }

  /**
   * Returns the total of ready, blocked and delayed items in every third sample. A sample that was chosen in one call
   * is also chosen in later calls, so that the line on the page doesn't flicker.
   */
  trend(): (number | null)[] {
    const trend: (number | null)[] = [];
    for (let place = 0; place < this.length; place++) {
      if ((this.#added - this.length + place) % SAMPLES_A_TREND !== 0) continue;
      trend.push(known(this.#get("ready", place) + this.#get("delayed", place)));
    }
    return trend;
  }
}

function known(number: number): number | null {
  return Number.isNaN(number) ? null : number;
}

function round(rate: number): number {
  return Math.round(rate * 1000) / 1000;
}
