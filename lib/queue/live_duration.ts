import type { Rule } from "../base/arguments.ts";
import { type Duration, DURATION_RULE, parseDuration, tryParseDuration } from "../base/duration.ts";

/** Duration that can be changed. Queues read it at each use. */
export class LiveDuration {
  /** Milliseconds. */
  ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }

  update(ms: number): void {
    this.ms = ms;
  }
}

/** Returns the rule for a duration of at least 0 that a config may change. */
export function liveDurationRule(): Rule {
  return [isLiveDuration, `${DURATION_RULE} of at least 0 ms`];
}

function isLiveDuration(value: unknown): boolean {
  return value instanceof LiveDuration || (tryParseDuration(value) ?? -1) >= 0;
}

/** Returns a duration that can be changed. */
export function liveDuration(duration: Duration | LiveDuration): LiveDuration {
  return duration instanceof LiveDuration ? duration : new LiveDuration(parseDuration(duration));
}
