import { ConfigError } from "@workqueue/core";
import { inspect, isPlainObject } from "@workqueue/core/internal";
import { groupOfKey } from "@workqueue/core/internal/registry";
import type { Arrival } from "../load/arrival.ts";

/** Attempt of a trace. */
export interface TracedAttempt {
  readonly ms: number;
  readonly hasFailed: boolean;
}

/** A recorded load. */
export interface Trace {
  readonly arrivals: readonly Arrival[];
  /** Attempts at each key, in the order in which they began. */
  readonly attempts: ReadonlyMap<string, readonly TracedAttempt[]>;
  /** Times of the attempts that succeeded, for attempts that the trace doesn't have. */
  readonly times: readonly number[];
  /** Time of the last event, in milliseconds from the start. */
  readonly duration: number;
}

/** Largest number of problems that are reported. */
const MAX_PROBLEMS = 10;

/** Beginning of the first line of a trace. */
const HEADER = /^\s*\{\s*"workqueue"\s*:\s*"trace"/;

/**
 * Reports whether a load is the text of a trace, which {@linkcode recordLoad} has written, and not a load document.
 *
 * @example Usage
 * ```ts
 * import { isTrace } from "@workqueue/simulate";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isTrace(`{"workqueue":"trace","version":1}\n{"at":0,"add":"a"}\n`), true);
 * assertEquals(isTrace(`{ "duration": "10m" }`), false);
 * ```
 *
 * @param load The load: JSON text, a parsed document, or the text of a trace.
 * @returns Whether it is a trace.
 */
export function isTrace(load: string | object): load is string {
  return typeof load === "string" && HEADER.test(load);
}

/**
 * Reads a trace that `recordLoad` has written. Its last line may be incomplete.
 *
 * @throws {ConfigError} If a line is not an event of a trace.
 */
export function readTrace(text: string): Trace {
  const problems: { path: string; message: string }[] = [];
  const arrivals: Omit<Arrival, "number">[] = [];
  const attempts: (TracedAttempt & { at: number; key: string })[] = [];
  let separator: string | undefined;
  const lines = text.split("\n");
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "" || problems.length === MAX_PROBLEMS) continue;
    const event = parse(line);
    if (event === undefined && i > 0 && i === lines.length - 1) continue; // the last line was cut off
    const { at, add, attempt, ms, priority = 0, failed = false } = event ?? {};
    if (i === 0 && event?.["workqueue"] === "trace") {
      const { version } = event;
      if (version !== 1) problems.push({ path: "", message: `its version is ${inspect(version)}, and must be 1` });
      if (typeof event["separator"] === "string") separator = event["separator"];
      continue;
    }
    if (isTime(at) && typeof add === "string" && Number.isFinite(priority)) {
      arrivals.push({ at, key: add, group: separator ? groupOfKey(add, separator) : "", priority: priority as number });
    } else if (isTime(at) && typeof attempt === "string" && isTime(ms)) {
      attempts.push({ at, key: attempt, ms, hasFailed: failed === true });
    } else problems.push({ path: "", message: `line ${i + 1} is not an event of a trace` });
  }
  if (problems.length === 0 && arrivals.length === 0) problems.push({ path: "", message: "no item is added" });
  if (problems.length > 0) throw new ConfigError("read trace", problems);
  const byTime = (a: { at: number }, b: { at: number }) => a.at - b.at;
  arrivals.sort(byTime);
  attempts.sort(byTime);
  const byKey = new Map<string, TracedAttempt[]>();
  for (const { key, ms, hasFailed } of attempts) {
    const list = byKey.get(key);
    if (list === undefined) byKey.set(key, [{ ms, hasFailed }]);
    else list.push({ ms, hasFailed });
  }
  return {
    arrivals: arrivals.map((arrival, number) => ({ number, ...arrival })),
    attempts: byKey,
    times: attempts.filter(({ hasFailed }) => !hasFailed).map(({ ms }) => ms),
    duration: Math.max(arrivals.at(-1)!.at, attempts.at(-1)?.at ?? 0),
  };
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Infinity;
}
