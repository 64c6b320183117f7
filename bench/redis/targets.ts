/** Bounds for the results, and the comparison of the results with these bounds. */

import type { Figures } from "../figures.ts";
import { type Facts, figureName, PAYLOADS } from "./facts.ts";
import { BULLMQ, OURS } from "./names.ts";
import { works } from "./works.ts";

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

/** Minimum speed relative to BullMQ, by the size of the payload. */
const LEAST: Readonly<Record<number, number>> = { 0: 1.3, 1000: 1 };
const WAKE_UP = 20;
const LATENESS = 5;
const MEMORY = 400;
const TAKE = 2;
const SCRIPT = 5;

/** Returns all bounds with their measured values. */
export function targetsOf(figures: Figures, facts: Facts): Target[] {
  const { runtimes, reactions, million } = facts;
  const bounded = Object.entries(works).filter(([, { isBounded }]) => isBounded);
  const comparisons = PAYLOADS.flatMap((payload) =>
    bounded.map(([name, { title, concurrency }]): Target => ({
      claim: `${title}, ${concurrency} at once, ${payloadText(payload)}`,
      bound: `${LEAST[payload]} × BullMQ`,
      measured: runtimes.map((runtime) => {
        const ratio = ratioOf(figures, name, payload, runtime);
        return { text: `${ratio.toFixed(2)} ×`, reached: ratio >= LEAST[payload]! };
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
