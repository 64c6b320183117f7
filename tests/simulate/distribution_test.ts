import { assert, assertEquals } from "@std/assert";
import { Distribution } from "../../packages/simulate/run/distribution.ts";
import { randomNumbers } from "../queue_helpers.ts";

Deno.test("distribution: percentiles are at most 0.8 % too high, and the mean and the maximum are exact", () => {
  const random = randomNumbers(4);
  for (const scale of [0.01, 1, 1000, 1e9]) {
    const distribution = new Distribution();
    const values = Array.from({ length: 5000 }, () => scale * random() ** 3);
    for (const value of values) distribution.add(value);
    values.sort((a, b) => a - b);
    const times = distribution.times();
    for (const [name, share] of [["p50", 0.5], ["p90", 0.9], ["p99", 0.99]] as const) {
      const exact = values[Math.ceil(values.length * share) - 1]!;
      assert(times[name] >= exact && times[name] <= exact * 1.008, `${name}: ${times[name]} instead of ${exact}`);
    }
    assertEquals([times.count, times.max], [5000, values.at(-1)]);
    assert(Math.abs(times.mean / (values.reduce((sum, value) => sum + value, 0) / 5000) - 1) < 1e-9);
  }
});

Deno.test("distribution: percentiles of no values, of zeros, and of values beyond all bounds", () => {
  const distribution = new Distribution();
  assertEquals(distribution.times(), { count: 0, mean: 0, p50: 0, p90: 0, p99: 0, max: 0 });
  for (let i = 0; i < 63; i++) distribution.add(0);
  distribution.add(2 ** 900);
  assertEquals(distribution.times(), { count: 64, mean: 2 ** 894, p50: 0, p90: 0, p99: 2 ** 42, max: 2 ** 900 });
});
