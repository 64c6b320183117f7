import type { Contender } from "./contenders.ts";
import type { FirstChild } from "./first_child.ts";
import type { LongRun } from "./long_list.ts";

/** Facts about one run of the benchmark, and all results that are not in `Figures`. */
export interface Facts {
  readonly machine: string;
  readonly contenders: readonly Contender[];
  readonly rounds: number;
  /** Number of lines that a contender processes in each round, by contender name. */
  readonly items: Readonly<Record<string, number>>;
  /** Number of lines in the long list. */
  readonly lines: number;
  readonly longRuns: readonly LongRun[];
  readonly firstChildren: readonly FirstChild[];
  /** Duration of the whole run, in minutes. */
  readonly minutes: number;
}

/** Concurrency levels of the benchmark: numbers of commands that run at once. */
export const CONCURRENCIES: readonly number[] = [2, 8];

/** Returns the `Figure` that identifies a measurement. */
export function figureOf(contender: Pick<Contender, "name" | "runtime">, concurrency: number) {
  return { work: `${concurrency} at once`, contender: contender.name, runtime: contender.runtime };
}
