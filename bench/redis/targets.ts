/** Bounds for the results, and the comparison of the results with these bounds. */

import type { Figures } from "../figures.ts";
import { type Facts, figureName, PAYLOADS } from "./facts.ts";
import { BULLMQ, FAIR, OURS, PRIORITY } from "./names.ts";
import { orderedWorks, works } from "./works.ts";

/** Bound, with one measured value for each runtime or one value for the server. */
export interface Target {
  readonly claim: string;
  readonly bound: string;
  readonly measured: readonly Measured[];
}

export interface Measured {
  readonly text: string;
  readonly reached: boolean;
}

/** Minimum speed relative to BullMQ with payloads. */
const LEAST_WITH_PAYLOAD = 1;
/** Maximum time relative to first in, first out. */
const MOST: Readonly<Record<string, number>> = { [PRIORITY]: 1.25, [FAIR]: 2 };
const WAKE_UP = 20;
const LATENESS = 5;
const MEMORY = 400;
const TAKE = 2;
const SCRIPT = 5;

/** Returns all bounds with their measured values. */
export function targetsOf(figures: Figures, facts: Facts): Target[] {
  const { runtimes, reactions, million } = facts;
  const bounded = Object.entries(works).filter(([, { least }]) => least !== undefined);
  const comparisons = PAYLOADS.flatMap((payload) =>
    bounded.map(([name, { title, concurrency, ...work }]): Target => {
      const least = payload === 0 ? work.least! : LEAST_WITH_PAYLOAD;
      return {
        claim: `${title}, ${concurrency} at once, ${payloadText(payload)}`,
        bound: `${least} × BullMQ`,
        measured: runtimes.map((runtime) => {
          const ratio = ratioOf(figures, name, payload, runtime);
          return { text: `${ratio.toFixed(2)} ×`, reached: ratio >= least };
        }),
      };
    })
  );
  const ordered = Object.entries(MOST).flatMap(([order, most]) =>
    Object.entries(orderedWorks).map(([name, { title, concurrency }]): Target => ({
      claim: `${title}, ${concurrency} at once, order: ${order}`,
      bound: `at most ${most} × the time of FIFO`,
      measured: runtimes.map((runtime) => {
        const of = (contender: string) => ({ work: figureName(name, 0), contender, runtime });
        const ratio = figures.ratio(of(order), of(OURS));
        return { text: `${ratio.toFixed(2)} ×`, reached: ratio <= most };
      }),
    }))
  );
  const atMost = (most: number, value: number, unit: string): Measured => ({
    text: `${value.toFixed(most < 10 ? 2 : 1)} ${unit}`,
    reached: value <= most,
  });
  const reactionOn = (runtime: string) =>
    reactions.find((each) => each.runtime === runtime && each.contender === OURS)!;
  const count = million.keys.toLocaleString("en");
  return [
    ...comparisons,
    ...ordered,
    {
      claim: "an idle worker begins what another process adds, 99th percentile",
      bound: `at most ${WAKE_UP} ms`,
      measured: runtimes.map((runtime) => atMost(WAKE_UP, reactionOn(runtime).wakeUp.p99, "ms")),
    },
    {
      claim: "lateness of what is due, in an idle worker, 99th percentile",
      bound: `at most ${LATENESS} ms`,
      measured: runtimes.map((runtime) => atMost(LATENESS, reactionOn(runtime).due.p99, "ms")),
    },
    ...(["ready", "delayed"] as const).map((kind) => ({
      claim: `memory of ${count} keys that are ${kind}, of 26 bytes each, a key`,
      bound: `at most ${MEMORY} bytes`,
      measured: [atMost(MEMORY, million.memory[kind], "bytes")],
    })),
    {
      claim: `a take among ${count} keys, against one among a thousand`,
      bound: `at most ${TAKE} ×`,
      measured: [atMost(TAKE, million.take.many / million.take.few, "×")],
    },
    {
      claim: `the slowest script at ${count} keys, 99th percentile of its calls`,
      bound: `at most ${SCRIPT} ms`,
      measured: [atMost(SCRIPT, Math.max(...million.slowest.map(([, { p99 }]) => p99)) / 1000, "ms")],
    },
  ];
}

/** Returns the speed of this queue relative to BullMQ. */
export function ratioOf(figures: Figures, work: string, payload: number, runtime: string): number {
  const of = (contender: string) => ({ work: figureName(work, payload), contender, runtime });
  return figures.ratio(of(BULLMQ), of(OURS));
}

export function payloadText(payload: number): string {
  return payload === 0 ? "keys alone" : `${payload / 1000} kB each`;
}
