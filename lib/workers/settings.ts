import {
  A_CLOCK,
  A_FUNCTION,
  A_POSITIVE_INTEGER,
  A_SIGNAL,
  hasMethods,
  requireRules,
  type Rule,
} from "../base/arguments.ts";
import { GATE } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { parseDuration } from "../base/duration.ts";
import { timeoutRule } from "../base/duration_arguments.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { Callbacks } from "./reports.ts";

/** Pool settings that may change while the pool runs. Read the settings at each use; don't copy them. */
export interface LiveSettings {
  concurrency: number;
  maxRetries: number;
  /** Timeout in milliseconds; `undefined` for no limit. A running attempt keeps its timeout. */
  timeout: number | undefined;
  throttle: WorkerOptions["throttle"];
}

/** Options of a pool, checked and with defaults filled in. */
export interface PoolSettings<T> extends LiveSettings {
  readonly maxAbandoned: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Cost of an item; `undefined` if each item costs 1. */
  readonly cost: WorkerOptions<T>["cost"];
  readonly isOverload: WorkerOptions<T>["isOverload"];
  /** Default: the clock of the source. */
  readonly clock: Clock | undefined;
  readonly callbacks: Callbacks<T>;
  /**
   * Time after which an attempt is no longer aborted if its item is added again; `undefined` if attempts are never
   * aborted for this reason.
   */
  readonly abortFor: number | undefined;
}

/** Default of `abortFor`, in milliseconds. */
const ABORT_FOR = 5000;

/**
 * Changes to a running pool. A setting that is `undefined` is reset to its default; an absent setting stays unchanged.
 */
export type PoolChanges = Pick<WorkerOptions, keyof LiveSettings>;

const A_COUNT: Rule = [isCount, "must be a non-negative integer or Infinity"];

function isCount(value: unknown): boolean {
  return value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function liveRules(): Readonly<Record<keyof LiveSettings, Rule>> {
  return {
    concurrency: A_POSITIVE_INTEGER,
    maxRetries: A_COUNT,
    timeout: timeoutRule(),
    throttle: [
      (value: unknown) => hasMethods(value, "acquire") && GATE in (value as object),
      "must be a throttle or a token bucket, or adaptThrottle(own)",
    ],
  };
}

/** Checks the options and fills in the defaults. */
export function settingsOf<T>(action: string, options: WorkerOptions<T>): PoolSettings<T> {
  const rules: Readonly<Record<keyof WorkerOptions, Rule>> = {
    ...liveRules(),
    maxAbandoned: A_COUNT,
    signal: A_SIGNAL,
    clock: A_CLOCK,
    cost: A_FUNCTION,
    isOverload: A_FUNCTION,
    onError: A_FUNCTION,
    onGiveUp: A_FUNCTION,
    whileProcessing: [(value: unknown) => value === "again" || value === "abort", 'must be "again" or "abort"'],
    abortFor: timeoutRule(),
  };
  requireRules(action, options, rules);
  const { maxAbandoned, signal, cost, isOverload, clock } = options;
  const abortFor = options.whileProcessing === "abort" ? parseDuration(options.abortFor ?? ABORT_FOR) : undefined;
  return { ...withDefaults(options), maxAbandoned, signal, cost, isOverload, clock, abortFor, callbacks: options };
}

/** Checks changes and returns the new settings. */
export function changedSettings(changes: PoolChanges): Partial<LiveSettings> {
  requireRules("change pool", changes, liveRules());
  const given = Object.entries(withDefaults(changes)).filter(([name]) => name in changes);
  return Object.fromEntries(given);
}

function withDefaults({ concurrency = 1, maxRetries = Infinity, timeout, throttle }: PoolChanges): LiveSettings {
  return { concurrency, maxRetries, timeout: timeout === undefined ? undefined : parseDuration(timeout), throttle };
}
