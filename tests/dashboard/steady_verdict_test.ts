/** Tests that verdicts don't jump. */

import { assertEquals } from "@std/assert";
import type { Verdict } from "@workqueue/dashboard";
import { randomNumbers } from "../queue_helpers.ts";
import { SteadyVerdict } from "../../packages/dashboard/watch/steady_verdict.ts";

const judged = (verdict: Verdict) => ({
  verdict,
  reason: `It is ${verdict}.`,
  guide: "operate.md#where-to-look" as const,
});

/** Returns the verdicts that are shown at times in seconds. */
function shown(...history: [seconds: number, verdict: Verdict][]): Verdict[] {
  const steady = new SteadyVerdict();
  return history.map(([seconds, verdict]) => steady.next(judged(verdict), seconds * 1000).verdict);
}

Deno.test("steady verdict: a worse verdict is shown at once, and a better one after ten seconds", () => {
  assertEquals(
    shown([0, "healthy"], [5, "failing"], [10, "healthy"], [14, "healthy"], [15, "healthy"]),
    ["healthy", "failing", "failing", "failing", "healthy"],
  );
});

Deno.test("steady verdict: a better verdict that doesn't last is never shown", () => {
  assertEquals(
    shown([0, "stuck"], [5, "busy"], [9, "stuck"], [15, "busy"], [18, "failing"], [20, "busy"], [29, "busy"]),
    ["stuck", "stuck", "stuck", "stuck", "stuck", "failing", "busy"],
  );
});

Deno.test("steady verdict: the effect of an act is shown at once", () => {
  assertEquals(
    shown([0, "failing"], [1, "paused"], [2, "healthy"], [3, "unknown"], [4, "busy"]),
    ["failing", "paused", "healthy", "unknown", "busy"],
  );
});

Deno.test("steady verdict: the reason says that the queue is getting better, and names the previous verdict", () => {
  const steady = new SteadyVerdict();
  steady.next(judged("failing"), 0);
  steady.next(judged("healthy"), 5000);
  assertEquals(
    steady.next(judged("healthy"), 9000).reason,
    "It is healthy. Better since 9 s ago; before that: It is failing.",
  );
});

for (let seed = 1; seed <= 50; seed++) {
  Deno.test(`steady verdict: in any history, it is the worst verdict of the last ten seconds (seed ${seed})`, () => {
    const random = randomNumbers(seed);
    const scale: Verdict[] = ["stuck", "failing", "busy", "healthy"];
    const steady = new SteadyVerdict();
    const history: { at: number; rank: number }[] = [];
    for (let at = 0; at < 600_000; at += 1000 + random() * 4000) {
      const last = history.at(-1)?.rank ?? 3;
      history.push({ at, rank: random() < 0.7 ? last : Math.floor(random() * scale.length) });
      const { verdict } = steady.next(judged(scale[history.at(-1)!.rank]!), at);
      const recent = history.filter((entry) => at - entry.at < 10_000).map(({ rank }) => rank);
      assertEquals(scale.indexOf(verdict), Math.min(...recent));
    }
  });
}
