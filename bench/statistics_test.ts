import { deepEqual } from "node:assert/strict";
import { medianInterval, medianOf, percentileOf, summaryOf } from "./statistics.ts";

/** Values whose order is not the order of their sizes, as numbers or as texts. */
const SEVEN = [70, 10, 300, 50, 20, 40, 600];

Deno.test("statistics: the median is the middle value, or the mean of the two in the middle", () => {
  deepEqual(medianOf(SEVEN), 50);
  deepEqual(medianOf([4, 1, 10, 2]), 3);
  deepEqual(medianOf([3]), 3);
  deepEqual(medianOf([]), NaN);
});

Deno.test("statistics: a percentile lies between the two nearest values", () => {
  deepEqual(percentileOf(SEVEN, 0), 10);
  deepEqual(percentileOf(SEVEN, 100), 600);
  deepEqual(percentileOf(SEVEN, 10), 16);
  deepEqual(Math.round(percentileOf(SEVEN, 90)), 420);
  const { low, median, high } = summaryOf(SEVEN);
  deepEqual([low, median, high], [(20 + 40) / 2, 50, (70 + 300) / 2]);
});

Deno.test("statistics: the interval of the median leaves out as many values as the sign test allows", () => {
  const values = (count: number) => Array.from({ length: count }, (_, i) => (i * 5 + 3) % count + 1);
  // With 14 values, 2 values on each side: 2 × (1 + 14 + 91) / 2 ** 14 = 1.3 %. With 3 on each side, 5.7 %.
  deepEqual(medianInterval(values(14)), { low: 3, median: 7.5, high: 12 });
  // With 28 values, 7 values on each side: 1.3 %. With 8 on each side, 3.6 %.
  deepEqual(medianInterval(values(28)), { low: 8, median: 14.5, high: 21 });
  deepEqual(medianInterval(values(7)), { low: 1, median: 4, high: 7 });
  deepEqual(medianInterval(values(6)), { low: -Infinity, median: 3.5, high: Infinity });
});
