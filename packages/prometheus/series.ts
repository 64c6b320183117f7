import type { Counter, Gauge, Histogram, SettableGauge } from "@workqueue/core/metrics";

/** What tells one series of a family from another. */
export interface Labels {
  readonly name: string;
  readonly priority?: string;
}

/** A line of what is scraped, as prom-client takes it. */
export interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Where it is not the name of the family. */
  readonly metricName?: string;
}

/** The numbers of one queue in one family. They are plain ones, and become samples when somebody scrapes. */
export interface Series {
  samples(labels: Labels, family: string): Sample[];
  reset(): void;
}

/** A number that is counted, by all who count in it; or set, by the one who knows it. */
export class Count implements Series, Counter, Gauge, SettableGauge {
  #value = 0;

  inc(): void {
    this.#value++;
  }

  dec(): void {
    this.#value--;
  }

  set(value: number): void {
    this.#value = value;
  }

  reset(): void {
    this.#value = 0;
  }

  samples(labels: Labels): Sample[] {
    return known(this.#value, labels);
  }
}

/** How numbers of several queues of one name, or of several processes, become one. */
export type Merge = "sum" | "max";

/** A number of which each who measures it sets a part, put together when somebody scrapes. */
export class Total implements Series {
  readonly #merge: Merge;
  /** Those that say something, as nobody says when a part will be set no more. */
  readonly #parts = new Set<{ value: number }>();
  /** The latest value of any part: if nothing else is known, and this is not, nobody knows the number. */
  #latest = 0;

  constructor(merge: Merge) {
    this.#merge = merge;
  }

  /** Makes what one of them sets. */
  part(): SettableGauge {
    const part = { value: 0 };
    return {
      set: (value) => {
        part.value = this.#latest = value;
        if (value === 0 || Number.isNaN(value)) this.#parts.delete(part);
        else this.#parts.add(part);
      },
    };
  }

  reset(): void {
    this.#parts.clear();
    this.#latest = 0;
  }

  samples(labels: Labels): Sample[] {
    const values = [...this.#parts].map(({ value }) => value);
    if (values.length === 0) return known(this.#latest, labels);
    return known(this.#merge === "max" ? Math.max(...values) : values.reduce((sum, value) => sum + value), labels);
  }
}

/** A number that nobody knows is left out, as it would be `Nan` of prom-client, which Prometheus does not read. */
function known(value: number, labels: Labels): Sample[] {
  return Number.isNaN(value) ? [] : [{ labels: { ...labels }, value }];
}

/** Values that are observed, by how large they are. */
export class Buckets implements Series, Histogram {
  readonly #bounds: readonly number[];
  /** How many values fell between each bound and the one below it, and at last above them all. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = [...bounds, Infinity].map(() => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    this.#counts[i]!++;
    this.#sum += value;
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }

  samples(labels: Labels, family: string): Sample[] {
    let count = 0;
    const buckets = this.#counts.map((between, i) => {
      count += between;
      const le = i < this.#bounds.length ? asGoPrints(this.#bounds[i]!) : "+Inf";
      return { metricName: `${family}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${family}_sum`, labels: { ...labels }, value: this.#sum },
      { metricName: `${family}_count`, labels: { ...labels }, value: count },
    ];
  }
}

/** Go writes exponents of two digits. Written otherwise, the same bucket of a program in Go would be another one. */
function asGoPrints(bound: number): string | number {
  return bound < 1e-4 ? bound.toExponential().replace(/-(\d)$/, "-0$1") : bound;
}
