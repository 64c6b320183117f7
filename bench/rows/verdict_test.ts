import { deepEqual } from "node:assert/strict";
import type { Bound } from "./row.ts";
import { RowFigures } from "./row_figures.ts";
import { judge, type Verdict } from "./verdict.ts";

/** Times of seven rounds. The machine was busy in two of them. */
const OURS = [10, 10, 30, 20, 10, 10, 10];
const PEER = [21, 20, 60, 42, 20, 19, 20];
/** Times of seven rounds. The machine was busy in one of them. */
const STEADY = [20, 21, 20, 80, 20, 19, 20];

function figuresOf(figures: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>): RowFigures {
  const row = new RowFigures();
  for (const [contender, runtimes] of Object.entries(figures)) {
    for (const [runtime, rounds] of Object.entries(runtimes)) {
      for (const figure of rounds) row.add(contender, runtime, figure);
    }
  }
  return row;
}

function verdictOn(bound: Bound, ours: readonly number[], peer: readonly number[] = STEADY): Verdict | undefined {
  return judge(bound, figuresOf({ ours: { deno: ours }, peer: { deno: peer } }), "deno")?.verdict;
}

Deno.test("verdict: a ratio is the median of the ratios of the rounds, not the ratio of medians", () => {
  const ours = [10, 20, 30, 40, 50, 60, 70];
  const peer = [70, 20, 30, 80, 50, 120, 70]; // ratios: 7, 1, 1, 2, 1, 2, 1; medians: 40 and 70
  const { low, median, high } = judge(
    { than: "peer", atLeast: 2 },
    figuresOf({ ours: { deno: ours }, peer: { deno: peer } }),
    "deno",
  )!;
  deepEqual({ low, median, high }, { low: 1, median: 1, high: 2 });
});

Deno.test("verdict: 'at least' is a speed, and 'at most' is a cost", () => {
  const ours = STEADY.map((time) => time / 2);
  deepEqual(verdictOn({ than: "peer", atLeast: 2 }, ours), "reached");
  deepEqual(verdictOn({ than: "peer", atLeast: 2.01 }, ours), "missed");
  deepEqual(verdictOn({ than: "peer", atMost: 0.5 }, ours), "reached");
  deepEqual(verdictOn({ than: "peer", atMost: 0.49 }, ours), "missed");
});

Deno.test("verdict: the median decides, even if a quarter of the rounds are on the other side of the bound", () => {
  const ours = [10, 10, 10, 10, 11, 11, 11];
  const peer = [20, 20, 20, 20, 20, 20, 20];
  deepEqual(verdictOn({ than: "peer", atLeast: 2 }, ours, peer), "reached");
  deepEqual(verdictOn({ than: "peer", atMost: 0.5 }, ours, peer), "reached");
});

Deno.test("verdict: there is none if the reference is too noisy", () => {
  deepEqual(verdictOn({ than: "peer", atLeast: 1 }, OURS, PEER), "too noisy");
  deepEqual(verdictOn({ than: "peer", atLeast: 1 }, OURS, STEADY), "reached"); // only ours is noisy
  const just = [100, 100, 100, 115, 130, 130, 130]; // the quartiles are 100 and 130
  deepEqual(verdictOn({ than: "peer", atLeast: 1 }, OURS, just), "too noisy");
  deepEqual(verdictOn({ than: "peer", atLeast: 1 }, OURS, just.map((time) => Math.min(time, 129))), "reached");
});

Deno.test("verdict: there is none after fewer than seven rounds", () => {
  deepEqual(verdictOn({ than: "peer", atLeast: 1 }, OURS.slice(1), STEADY.slice(1)), "too few rounds");
  const figures = figuresOf({ ours: { deno: OURS.slice(4) } });
  deepEqual(judge({ atMost: 10 }, figures, "deno", 3)?.verdict, "reached"); // a row with three rounds of its own
});

Deno.test("verdict: without a reference, the rounds must agree", () => {
  deepEqual(verdictOn({ atMost: 30 }, OURS), "reached");
  deepEqual(verdictOn({ atMost: 9 }, OURS), "missed");
  deepEqual(verdictOn({ atMost: 12 }, OURS), "too noisy"); // the quartiles are 10 and 15
  deepEqual(verdictOn({ atLeast: 10 }, OURS), "reached");
  deepEqual(verdictOn({ atLeast: 12 }, OURS), "too noisy");
});

Deno.test("verdict: a Go contender counts with its better figure of each round, or with the one that is named", () => {
  const ours = { deno: [10, 10, 10, 10, 10, 10, 10] };
  const go = { "1": [20, 30, 20, 30, 20, 30, 20], "2": [30, 20, 30, 20, 30, 20, 30] };
  const figures = figuresOf({ ours, go });
  deepEqual(judge({ than: "go", atLeast: 2 }, figures, "deno")?.median, 2);
  deepEqual(judge({ than: "go", procs: "2", atLeast: 2 }, figures, "deno")?.median, 3);
});

Deno.test("verdict: there is none for a contender that was not measured", () => {
  const figures = figuresOf({ ours: { deno: OURS } });
  deepEqual(judge({ than: "go", atLeast: 2 }, figures, "deno"), undefined);
  deepEqual(judge({ atMost: 2 }, figures, "bun"), undefined);
});
