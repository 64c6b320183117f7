/** Statistics of repeated measurements. */

/**
 * Returns a percentile of the values, interpolated between the two nearest values; `NaN` if there are no values. The
 * 50th percentile is the median.
 */
export function percentileOf(values: readonly number[], percent: number): number {
  if (values.length === 0) return NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * percent / 100;
  const [below, above] = [sorted[Math.floor(position)]!, sorted[Math.ceil(position)]!];
  return below === above ? below : below + (above - below) * (position % 1);
}

/** Returns the median of the values; `NaN` if there are no values. */
export function medianOf(values: readonly number[]): number {
  return percentileOf(values, 50);
}

/** Median of some values, and the range in which most of them lie. */
export interface Summary {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** Returns the median, and the range from the 25th to the 75th percentile. */
export function summaryOf(values: readonly number[]): Summary {
  const [low, median, high] = [25, 50, 75].map((percent) => percentileOf(values, percent));
  return { low: low!, median: median!, high: high! };
}

/** Probability with which a median lies in its interval. */
const CONFIDENCE = 0.98;

/**
 * Returns the median of the values, and the interval that contains the true median with a probability of at least 98 %,
 * whatever the distribution of the values (sign test). With fewer than seven values, the interval is unlimited.
 */
export function medianInterval(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  // `outside` is the probability that at most `rank` values are below the true median.
  let rank = 0;
  let term = 0.5 ** length;
  let outside = term;
  while (2 * outside <= 1 - CONFIDENCE) {
    rank++;
    term *= (length - rank + 1) / rank;
    outside += term;
  }
  const median = medianOf(values);
  if (rank === 0) return { low: -Infinity, median, high: Infinity };
  return { low: sorted[rank - 1]!, median, high: sorted[length - rank]! };
}
