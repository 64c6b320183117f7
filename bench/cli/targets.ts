/** Bounds for the results, and the comparison of the results with these bounds. */

import { type Runtime, RUNTIMES } from "../../release/installed.ts";
import type { Figures } from "../figures.ts";
import { OURS, PARALLEL, XARGS } from "./contenders.ts";
import { CONCURRENCIES, type Facts, figureOf } from "./facts.ts";

/** Bound, with the measured value for each runtime to which the bound applies. */
export interface Target {
  readonly claim: string;
  readonly measured: Readonly<Partial<Record<Runtime, Measured>>>;
}

export interface Measured {
  readonly bound: string;
  readonly text: string;
  readonly reached: boolean;
}

/** Minimum rate of `workqueue` relative to each peer, by the peer's name and the runtime. */
const LEAST: Readonly<Record<string, Partial<Record<Runtime, number>>>> = {
  [XARGS]: { Bun: 0.8, Deno: 0.5, Node: 0.3 },
  [PARALLEL]: { Bun: 2, Deno: 2 },
};
/** Minimum rate at the end of the long list, relative to the rate of a fresh run. */
const STEADY = 0.9;
const MEMORY = 200e6;
/** Maximum time until the first child runs, in milliseconds. */
const FIRST_CHILD: Partial<Record<Runtime, number>> = { Bun: 150, Deno: 300 };
/** Maximum duration of a run of one item, relative to the duration of an empty program. */
const ONE_ITEM: Partial<Record<Runtime, number>> = { Node: 3 };

/** Returns all bounds with their measured values. */
export function targetsOf(figures: Figures, { contenders, lines, longRuns, firstChildren }: Facts): Target[] {
  const peers = Object.keys(LEAST).filter((peer) => contenders.some(({ name }) => name === peer));
  const list = `of ${lines.toLocaleString("en")} lines`;
  return [
    ...peers.flatMap((peer) =>
      CONCURRENCIES.map((concurrency) => ({
        claim: `items a second, ${concurrency} at once, as ${peer}`,
        measured: forEach(LEAST[peer]!, (runtime, least) => {
          const ratio = ratioTo(figures, peer, runtime, concurrency);
          return { bound: `${least} ×`, text: `${ratio.toFixed(2)} ×`, reached: ratio >= least };
        }),
      }))
    ),
    {
      claim: `items a second at the end ${list}, as in a run that has just begun`,
      measured: Object.fromEntries(longRuns.map(({ runtime, steadiness }) => [
        runtime,
        { bound: `${STEADY} ×`, text: `${steadiness.toFixed(2)} ×`, reached: steadiness >= STEADY },
      ])),
    },
    {
      claim: `the most memory for a list ${list}`,
      measured: Object.fromEntries(
        longRuns.filter(({ memory }) => memory !== undefined).map(({ runtime, memory }) => [
          runtime,
          { bound: `${MEMORY / 1e6} MB`, text: `${(memory! / 1e6).toFixed(0)} MB`, reached: memory! <= MEMORY },
        ]),
      ),
    },
    {
      claim: "from start to first child",
      measured: forEach(FIRST_CHILD, (runtime, most) => {
        const { median } = firstChildren.find((each) => each.runtime === runtime)!;
        return { bound: `${most} ms`, text: `${median.toFixed(0)} ms`, reached: median <= most };
      }),
    },
    {
      claim: "a run of one item, as long as an empty program",
      measured: forEach(ONE_ITEM, (runtime, most) => {
        const { oneItem, empty } = firstChildren.find((each) => each.runtime === runtime)!;
        const ratio = oneItem / empty;
        return { bound: `${most} ×`, text: `${ratio.toFixed(2)} ×`, reached: ratio <= most };
      }),
    },
  ];
}

/** Returns the rate of `workqueue` divided by the rate of a peer, as the median of all rounds. */
export function ratioTo(figures: Figures, peer: string, runtime: Runtime, concurrency: number): number {
  return figures.ratio(
    figureOf({ name: peer, runtime: "" }, concurrency),
    figureOf({ name: OURS, runtime }, concurrency),
  );
}

function forEach(
  bounds: Partial<Record<Runtime, number>>,
  measure: (runtime: Runtime, bound: number) => Measured,
): Target["measured"] {
  const bounded = RUNTIMES.filter((runtime) => bounds[runtime] !== undefined);
  return Object.fromEntries(bounded.map((runtime) => [runtime, measure(runtime, bounds[runtime]!)]));
}
