/** Helpers for tests of limiters. */

import type { FailedAttempt, FailedStart, RateLimiter } from "@workqueue/core";
import type { NOT_COUNTED } from "../../lib/base/brands.ts";

export const DURATION = `must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least 0 ms`;

/** Returns the next `count` delays of an item. */
export function delays<T>(limiter: RateLimiter<T>, item: T, count: number): number[] {
  return Array.from({ length: count }, () => limiter.when(item));
}

/** A failed attempt, which limiters pass on to the limiters inside them. */
export const ATTEMPT: FailedStart = { startedAt: 1, minDelay: 2 };

/** A failed attempt, as a queue passes it to `next`. The attempt was not early. */
export const RETRY: FailedAttempt = { startedAt: 9, dueAt: 5, minDelay: 2 };

/** Limiter that always gives the same answers and records the calls to its methods. */
export class Recorder implements RateLimiter {
  readonly calls: unknown[][] = [];

  constructor(readonly delay: number, readonly requeues = 0) {}

  when(...args: unknown[]): number {
    const [item, key, ...attempt] = args;
    this.calls.push(["when", item, key, ...attempt.filter((each) => each !== undefined)]);
    return this.delay;
  }

  forget(...args: unknown[]): void {
    this.calls.push(["forget", ...args]);
  }

  numRequeues(...args: unknown[]): number {
    this.calls.push(["numRequeues", ...args]);
    return this.requeues;
  }
}

/** Limiter with `next` that always gives the same answer and records the calls to its methods. */
export class NextRecorder extends Recorder {
  constructor(readonly answer: number | typeof NOT_COUNTED) {
    super(-1);
  }

  next(...args: unknown[]): number | typeof NOT_COUNTED {
    this.calls.push(["next", ...args]);
    return this.answer;
  }

  forgotten(...args: unknown[]): void {
    this.calls.push(["forgotten", ...args]);
  }
}

export type BadOption = [options: unknown, rest: string, ErrorClass?: typeof RangeError];

/**
 * Returns the error class that a bad value must cause: `[RangeError]` for a number, otherwise `[]`, which means the
 * default class.
 */
export function errorFor(value: unknown): [ErrorClass?: typeof RangeError] {
  return typeof value === "number" ? [RangeError] : [];
}

/** Returns bad values of every kind for a duration option, each with the expected message. */
export function badDurations(option: string, others: object): BadOption[] {
  const values: [value: unknown, received: string][] = [
    [NaN, "NaN"],
    [-1, "-1"],
    [-0.001, "-0.001"],
    [Infinity, "Infinity"],
    [-Infinity, "-Infinity"],
    ["-5ms", `"-5ms"`],
    ["soon", `"soon"`],
    ["5", `"5"`],
    ["", `""`],
    [null, "null"],
    [true, "true"],
    [[5], "an array"],
    [5n, "5n"],
    [new Date(5), "an object"],
    ["9".repeat(1000), `"${"9".repeat(60)}…"`],
  ];
  return values.map(([value, received]) => [
    { ...others, [option]: value },
    `'${option}' ${DURATION}, got ${received}`,
    ...errorFor(value),
  ]);
}

export function badCounts(option: string, others: object): BadOption[] {
  const values: [value: unknown, received: string][] = [
    [1.5, "1.5"],
    [-1, "-1"],
    [NaN, "NaN"],
    [Infinity, "Infinity"],
    [2 ** 53, "9007199254740992"],
    ["3", `"3"`],
    [null, "null"],
    [3n, "3n"],
  ];
  return values.map(([value, received]) => [
    { ...others, [option]: value },
    `'${option}' must be a non-negative integer, got ${received}`,
    ...errorFor(value),
  ]);
}
