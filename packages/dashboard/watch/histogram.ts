/**
 * Number of bits of the mantissa that select a bucket. Each power of two is divided into `2 ** MANTISSA_BITS` buckets
 * of equal width.
 */
const MANTISSA_BITS = 5;

/** Number of bits of a double's high word that don't select a bucket. */
const SHIFT = 20 - MANTISSA_BITS;

/** Largest relative error of a percentile: half of the width of the bucket, divided by the bucket's lower bound. */
export const MAX_ERROR = 2 ** -(MANTISSA_BITS + 1);

/** Double whose bits are read to find its bucket. */
const double = new DataView(new ArrayBuffer(8));

/**
 * Histogram of non-negative numbers, for percentiles with a bounded relative error (`MAX_ERROR`, about 1.6 %).
 *
 * The buckets are log-linear, as in HdrHistogram. The bucket of a number consists of the number's exponent and the
 * first bits of its mantissa, so no logarithm is computed. Two histograms are merged by adding up their counts, and the
 * result is the same as if all numbers had been added to one histogram. Masson, Rim and Lee: "DDSketch: A Fast and
 * Fully-Mergeable Quantile Sketch with Relative-Error Guarantees" (VLDB 2019) proves both properties for buckets whose
 * relative width is bounded.
 */
export class Histogram {
  /** Number of numbers in each bucket that is not empty. */
  readonly #counts = new Map<number, number>();
  #count = 0;

  /** Number of numbers. */
  get count(): number {
    return this.#count;
  }

  add(number: number): void {
    this.#add(bucketOf(number), 1);
  }

  /** Adds all numbers of another histogram. */
  merge(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#add(bucket, count);
  }

  /**
   * Returns the smallest number that is not less than a part of all numbers, such as 0.99 of them; `null` if there are
   * no numbers. The relative error is at most `MAX_ERROR`.
   */
  percentile(part: number): number | null {
    let left = Math.max(Math.ceil(part * this.#count), 1);
    for (const [bucket, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return middleOf(bucket);
    }
    return null;
  }

  #add(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#count += count;
  }
}

/** Returns the bucket of a number. Larger numbers have equal or larger buckets. Negative numbers count as 0. */
function bucketOf(number: number): number {
  double.setFloat64(0, Math.max(number, 0));
  return double.getUint32(0) >>> SHIFT;
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : (lowerBound(bucket) + lowerBound(bucket + 1)) / 2;
}

function lowerBound(bucket: number): number {
  double.setUint32(0, bucket << SHIFT);
  double.setUint32(4, 0);
  return double.getFloat64(0);
}
