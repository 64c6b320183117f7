import type { Contender } from "./contenders.ts";
import type { FirstChild } from "./first_child.ts";
import type { LongRun } from "./long_list.ts";

/** What was found out beside the times of the lists. */
export interface Facts {
  readonly machine: string;
  readonly contenders: readonly Contender[];
  readonly rounds: number;
  /** How many lines the lists of the rounds have, by the contender's name. */
  readonly items: Readonly<Record<string, number>>;
  /** How many lines the long list has. */
  readonly lines: number;
  readonly longRuns: readonly LongRun[];
  readonly firstChildren: readonly FirstChild[];
  /** The minutes that the whole run took. */
  readonly minutes: number;
}

/** How many run at once. */
export const CONCURRENCIES: readonly number[] = [2, 8];

/** The work as the figures know it. */
export function figureOf(contender: Pick<Contender, "name" | "runtime">, concurrency: number) {
  return { work: `${concurrency} at once`, contender: contender.name, runtime: contender.runtime };
}
