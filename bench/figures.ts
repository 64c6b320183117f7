import { medianOf } from "./statistics.ts";

/** Measured times in nanoseconds per item, by workload, contender and runtime. There is one time for each round. */
export class Figures {
  readonly #rounds = new Map<string, number[]>();

  add(figure: Figure, nanoseconds: number): void {
    const key = keyOf(figure);
    const rounds = this.#rounds.get(key);
    if (rounds === undefined) this.#rounds.set(key, [nanoseconds]);
    else rounds.push(nanoseconds);
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
  /** Runtime on which the contender runs. */
  readonly runtime: string;
}

function keyOf({ work, contender, runtime }: Figure): string {
  return [work, contender, runtime].join("\n");
}
