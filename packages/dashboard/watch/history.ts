import type { History as HistoryLists, Rates } from "../api.ts";
import type { Look } from "./source.ts";

/** How many samples are kept: fifteen minutes of them. */
export const MAX_SAMPLES = 180;
/** How far they are apart, in milliseconds. */
export const SAMPLE_EVERY = 5000;
/** What rates are taken over, in milliseconds. */
const RATES_OVER = 60_000;
/** Of how many samples the trend has one number. */
const SAMPLES_A_TREND = 3;

/** The ten numbers of a sample. What is not known is `NaN`, as typed arrays have no `null`. */
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
] as const;

/** A sample: `at` by the monotonic clock. */
export type Sample = Readonly<Record<typeof COLUMNS[number], number>>;

/** What is kept of a look; of one that failed, when it was. */
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
  };
}

/** The latest samples of a queue: a ring of numbers, whose size never changes. */
export class History {
  readonly #columns = Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(MAX_SAMPLES)])) as Record<
    keyof Sample,
    Float64Array
  >;
  /** How many were ever added. */
  #added = 0;

  get length(): number {
    return Math.min(this.#added, MAX_SAMPLES);
  }

  add(sample: Sample): void {
    const slot = this.#added++ % MAX_SAMPLES;
    for (const name of COLUMNS) this.#columns[name][slot] = sample[name];
  }

  /** One number of the sample at a place; 0 is the oldest. */
  #get(name: keyof Sample, place: number): number {
    return this.#columns[name][(this.#added - this.length + place) % MAX_SAMPLES]!;
  }

  /**
   * By how much it is more than it was some time before, a minute, and how long that was; `undefined` if nobody knows.
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

  /** How many a second, over the last minute or what there is of it. */
  rates(now: Sample): Rates {
    const rate = (name: keyof Sample) => {
      const over = this.over(name, now);
      return over === undefined ? null : round(Math.max(over.change, 0) / (over.ms / 1000));
    };
    return { in: rate("becameReady"), out: rate("handedOut"), failures: rate("failed"), givenUp: rate("givenUp") };
  }

  /**
   * For how long the oldest of the ready items has been so at least, if they are handed out in their order: since the
   * first sample by which as many had become ready.
   */
  oldestReadyMs(now: Sample): number | null {
    if (!(now.ready > 0) || Number.isNaN(now.handedOut)) return null;
    for (let place = 0; place < this.length; place++) {
      if (this.#get("becameReady", place) > now.handedOut) return Math.max(now.at - this.#get("at", place), 0);
    }
    return 0;
  }

  /** The samples as lists; `time` is what the wall clock said, if it says `time` now. */
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
   * How many were ready or waited, one number for three samples: always the same of them, so that lines do not flicker.
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
