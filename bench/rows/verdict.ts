/** Verdicts: whether the figures of a row keep within a bound, as far as the measurements can tell. */

import { type Summary, summaryOf } from "../statistics.ts";
import type { Bound } from "./row.ts";
import type { RowFigures } from "./row_figures.ts";

/** Smallest number of rounds after which there are verdicts. */
export const MIN_ROUNDS = 7;

/** Smallest spread at which the figures of a reference are too noisy for a verdict. */
export const TOO_NOISY = 1.3;

export type Verdict = "reached" | "missed" | "too noisy" | "too few rounds";

/** Bounded value, summed up over the rounds, with the verdict. */
export interface Judgement extends Summary {
  readonly verdict: Verdict;
}

/**
 * Judges a row on one runtime. Returns `undefined` if a contender was not measured.
 *
 * The value is a figure or, if the bound compares two contenders, the ratio of their figures of the same round. A
 * comparison is too noisy if the spread of the reference's figures is 1.3 or more. Without a reference, the rounds must
 * agree: both quartiles of the figures must keep within the bound, or none.
 *
 * @param leastRounds Number of rounds below which there is no verdict.
 */
export function judge(
  bound: Bound,
  figures: RowFigures,
  runtime: string,
  leastRounds: number = MIN_ROUNDS,
): Judgement | undefined {
  const { contender = figures.contenders[0]!, than, procs, atLeast = -Infinity, atMost = Infinity } = bound;
  const measured = figures.bestOf(contender, runtime);
  const reference = than === undefined
    ? undefined
    : procs === undefined
    ? figures.bestOf(than, runtime)
    : figures.of(than, procs);
  if (measured.length === 0 || reference?.length === 0) return undefined;
  const summary = summaryOf(
    reference === undefined
      ? measured
      : measured.map((figure, i) => atLeast > 0 ? reference[i]! / figure : figure / reference[i]!),
  );
  const isReached = (value: number) => value >= atLeast && value <= atMost;
  const isNoisy = reference === undefined
    ? isReached(summary.low) !== isReached(summary.high)
    : spreadOf(reference) >= TOO_NOISY;
  const verdict = measured.length < leastRounds
    ? "too few rounds"
    : isNoisy
    ? "too noisy"
    : isReached(summary.median)
    ? "reached"
    : "missed";
  return { ...summary, verdict };
}

/**
 * Returns the ratio of the third to the first quartile, so that up to a quarter of the rounds may be disturbed in each
 * direction: one of seven rounds.
 */
export function spreadOf(values: readonly number[]): number {
  const { low, high } = summaryOf(values);
  return high / low;
}
