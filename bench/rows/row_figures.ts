import { PROCS } from "./row.ts";

/** Figures of one row: one for each round, contender and runtime. */
export class RowFigures {
  readonly #rounds = new Map<string, number[]>();

  /** Adds the figure of the next round. `runtime` is the name of a runtime or, in Go, the value of `GOMAXPROCS`. */
  add(contender: string, runtime: string, figure: number): void {
    const key = keyOf(contender, runtime);
    this.#rounds.set(key, [...this.#rounds.get(key) ?? [], figure]);
  }

  /** Returns the figures, by round. There are none if the contender was not measured on this runtime. */
  of(contender: string, runtime: string): readonly number[] {
    return this.#rounds.get(keyOf(contender, runtime)) ?? [];
  }

  /** Returns the figures, by round. For a Go contender, these are the lower figures of each round, on every runtime. */
  bestOf(contender: string, runtime: string): readonly number[] {
    const figures = this.of(contender, runtime);
    if (figures.length > 0) return figures;
    const [one, two] = PROCS.map((procs) => this.of(contender, procs));
    return one!.map((figure, round) => Math.min(figure, two![round]!));
  }

  /** Returns the names of all contenders, in the order in which they were added first. */
  get contenders(): string[] {
    return [...new Set(Array.from(this.#rounds.keys(), (key) => key.split("\n")[0]!))];
  }
}

function keyOf(contender: string, runtime: string): string {
  return `${contender}\n${runtime}`;
}
