/** Gaps between turns of the event loop, and the garbage collections in them. All times are in milliseconds. */

import { medianOf } from "../statistics.ts";

/** Gap between two turns of the event loop. */
export interface Gap {
  /** Begin and end of the gap, by `performance.now`. */
  readonly from: number;
  readonly to: number;
  /** Time for which the thread had waited for the CPU until then. */
  readonly fromWaited: number;
  readonly toWaited: number;
  /** Length of the log until then, in bytes. */
  readonly fromLogged: number;
  readonly toLogged: number;
}

/** Output of `callback_child.ts`. */
export interface Printed {
  readonly gaps: readonly Gap[];
  /** Garbage collections, if the runtime tells them. */
  readonly collections: readonly Span[];
  /** Ends of the garbage collections that the program itself began. */
  readonly calibrations: readonly number[];
}

/** Period of time, by `performance.now`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Longest times for which the event loop was blocked. */
export interface Blocked {
  /** Without garbage collection. */
  readonly longest: number;
  /** Garbage collection alone. */
  readonly collection: number;
  /** In total. */
  readonly total: number;
}

/**
 * Returns the longest times. `log` contains what the runtime's engine printed about garbage collections, unless the
 * runtime tells them.
 */
export function longestOf({ gaps, collections, calibrations }: Printed, log: string): Blocked {
  const known = collections.length > 0 ? collections : collectionsInV8Log(log, calibrations);
  const inGap = known.length > 0 ? collectedBySpans(gaps, known) : gaps.map((gap) => pausesInJscLog(log, gap));
  // While other processes have the CPU, the thread does nothing, and no queue can change that.
  const totals = gaps.map(({ from, to, fromWaited, toWaited }) => to - from - (toWaited - fromWaited));
  return {
    longest: Math.max(0, ...totals.map((total, i) => total - inGap[i]!)),
    collection: Math.max(0, ...inGap),
    total: Math.max(0, ...totals),
  };
}

/** Returns the duration of the collections in each gap. A collection belongs to the gap with most of it. */
function collectedBySpans(gaps: readonly Gap[], collections: readonly Span[]): number[] {
  const inGap = gaps.map(() => 0);
  for (const span of collections) {
    const overlaps = gaps.map(({ from, to }) => Math.min(to, span.to) - Math.max(from, span.from));
    const most = Math.max(...overlaps);
    if (most > 0) inGap[overlaps.indexOf(most)]! += span.to - span.from;
  }
  return inGap;
}

/** Reads the output of V8 with `--trace-gc`. Its times are whole milliseconds since some start. */
function collectionsInV8Log(log: string, calibrations: readonly number[]): Span[] {
  const lines = log.matchAll(/(\d+) ms: [^\n]*?, ([\d.]+) \/ [\d.]+ ms .*/g);
  const found = Array.from(lines, ([line, at, pause]) => ({ line, at: Number(at), pause: Number(pause) }));
  const calibrating = found.filter(({ line }) => line.includes("testing"));
  const offset = medianOf(calibrating.slice(0, calibrations.length).map(({ at }, i) => calibrations[i]! - at));
  return found.map(({ at, pause }) => ({ from: at + offset - pause, to: at + offset }));
}

/** Adds up the pauses that JavaScriptCore printed during a gap, with `BUN_JSC_logGC=1`. */
function pausesInJscLog(log: string, { fromLogged, toLogged }: Gap): number {
  const pauses = log.slice(fromLogged, toLogged).matchAll(/\bp=([\d.]+)ms/g);
  return Array.from(pauses, ([, pause]) => Number(pause)).reduce((sum, pause) => sum + pause, 0);
}
