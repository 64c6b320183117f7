import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Samples } from "../../packages/cli/run/statistics.ts";

Deno.test("statistics: percentiles are right to half a percent, in any order and size", () => {
  for (const scale of [1e-4, 1, 1e5]) {
    const samples = new Samples();
    for (let i = 1; i <= 1000; i++) samples.observe(((i * 7919) % 1000 + 1) * scale);
    for (const [part, expected] of [[0.001, 1], [0.5, 500], [0.99, 990], [1, 1000]] as const) {
      assertAlmostEquals(samples.percentile(part)! / (expected * scale), 1, 0.0051);
    }
  }
});

Deno.test("statistics: without values there are no percentiles, and a duration of 0 is counted", () => {
  const samples = new Samples();
  assertEquals(samples.percentile(0.5), undefined);
  samples.observe(0);
  assertAlmostEquals(samples.percentile(0.5)!, 0, 1e-5);
});
