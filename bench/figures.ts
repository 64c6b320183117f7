/** Measured times in nanoseconds per item, by workload, contender and runtime. There is one time for each round. */
export class Figures {
  readonly #rounds = new Map<string, number[]>();

  add(figure: Figure, nanoseconds: number): void {
    const key = keyOf(figure);
    const rounds = this.#rounds.get(key);
    if (rounds === undefined) this.#rounds.set(key, [nanoseconds]);
    else rounds.push(nanoseconds);
  }

  has(figure: Figure): boolean {
    return this.#rounds.has(keyOf(figure));
  }

  /** Returns the median of the rounds; `NaN` if there are no rounds. */
  median(figure: Figure): number {
    return medianOf(this.#rounds.get(keyOf(figure)) ?? []);
  }

  /** Returns the ratio of `one` to `other`, as the median of the ratios of all rounds. */
  ratio(one: Figure, other: Figure): number {
    const others = this.#rounds.get(keyOf(other)) ?? [];
    return medianOf((this.#rounds.get(keyOf(one)) ?? []).map((value, round) => value / others[round]!));
  }

  /** Returns the minimum and the maximum time of the rounds. */
  spread(figure: Figure): [least: number, most: number] {
    const rounds = this.#rounds.get(keyOf(figure)) ?? [];
    return [Math.min(...rounds), Math.max(...rounds)];
  }
}

/** Identity of a measurement: a workload, a contender and a runtime. */
export interface Figure {
  readonly work: string;
  readonly contender: string;
  /** `deno` or `bun`; for client-go, the value of `GOMAXPROCS`. */
  readonly runtime: string;
}

/** Returns the median of the values; `NaN` if there are no values. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function keyOf({ work, contender, runtime }: Figure): string {
  return [work, contender, runtime].join("\n");
}
