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
import { timeoutRule } from "../base/duration_arguments.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { Callbacks } from "./reports.ts";

/** The settings of a pool that may change while it runs. Whoever needs one reads it from here each time. */
export interface LiveSettings {
  concurrency: number;
  maxRetries: number;
  /** In milliseconds; `undefined` is as long as it likes. An attempt that runs keeps what it began with. */
  timeout: number | undefined;
  throttle: TokenSource | undefined;
}

/** The options of a pool, checked, with defaults filled in. */
export interface PoolSettings<T> extends LiveSettings {
  readonly maxAbandoned: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** By default that of the source. */
  readonly clock: Clock | undefined;
  readonly callbacks: Callbacks<T>;
}

/** What a pool can be told while it runs. A member that is `undefined` goes back to its default; one left out stays. */
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
    throttle: [(value: unknown) => hasMethods(value, "reserve"), "must be a token bucket"],
  };
}

/** Checks the options and fills in what was left out. */
export function settingsOf<T>(action: string, options: WorkerOptions<T>): PoolSettings<T> {
  const rules: Readonly<Record<keyof WorkerOptions, Rule>> = {
    ...liveRules(),
    maxAbandoned: A_COUNT,
    signal: A_SIGNAL,
    clock: A_CLOCK,
    onError: A_FUNCTION,
    onGiveUp: A_FUNCTION,
  };
  requireRules(action, options, rules);
  const { maxAbandoned, signal, clock } = options;
  return { ...withDefaults(options), maxAbandoned, signal, clock, callbacks: options };
}

/** Checks changes, and returns the settings that they give. */
export function changedSettings(changes: PoolChanges): Partial<LiveSettings> {
  requireRules("change pool", changes, liveRules());
  const given = Object.entries(withDefaults(changes)).filter(([name]) => name in changes);
  return Object.fromEntries(given);
}

function withDefaults({ concurrency = 1, maxRetries = Infinity, timeout, throttle }: PoolChanges): LiveSettings {
  return { concurrency, maxRetries, timeout: timeout === undefined ? undefined : parseDuration(timeout), throttle };
}
