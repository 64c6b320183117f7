import {
  A_CLOCK,
  A_FUNCTION,
  A_POSITIVE_INTEGER,
  A_SIGNAL,
  hasMethods,
  requireRules,
  type Rule,
} from "../base/arguments.ts";
import type { Clock } from "../base/clock.ts";
import { parseDuration } from "../base/duration.ts";
import { isTimeout, timeoutRule } from "../base/duration_arguments.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { Callbacks } from "./reports.ts";

/** The options of a pool, checked, with defaults filled in, and with lengths of time in milliseconds. */
export interface PoolSettings<T> {
  readonly concurrency: number;
  readonly maxAbandoned: number | undefined;
  readonly maxRetries: number;
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** By default that of the source. */
  readonly clock: Clock | undefined;
  readonly starts: TokenSource | undefined;
  readonly callbacks: Callbacks<T>;
}

const A_COUNT: Rule = [isCount, "must be a non-negative integer or Infinity"];

function isCount(value: unknown): boolean {
  return value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0);
}

/** Checks the options and fills in what was left out. */
export function settingsOf<T>(action: string, options: WorkerOptions<T>): PoolSettings<T> {
  requireRules(action, options, {
    concurrency: A_POSITIVE_INTEGER,
    maxAbandoned: A_COUNT,
    maxRetries: A_COUNT,
    timeout: [isTimeout, timeoutRule()],
    signal: A_SIGNAL,
    clock: A_CLOCK,
    starts: [(value: unknown) => hasMethods(value, "reserve"), "must be a token bucket"],
    onError: A_FUNCTION,
    onGiveUp: A_FUNCTION,
  });
  const { concurrency = 1, maxAbandoned, maxRetries = Infinity, timeout, signal, clock, starts } = options;
  return {
    concurrency,
    maxAbandoned,
    maxRetries,
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    signal,
    clock,
    starts,
    callbacks: options,
  };
}
