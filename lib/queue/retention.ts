import { A_POSITIVE_INTEGER } from "../base/arguments.ts";
import { type Duration, parseDuration, tryParseDuration } from "../base/duration.ts";
import type { GivenUpRetention } from "../contracts/given_up.ts";

/** Reports whether a value says how many given-up items a queue keeps. */
export function isRetention(value: unknown): boolean {
  const [isPositiveInteger] = A_POSITIVE_INTEGER as readonly [(value: unknown) => boolean, string];
  if (typeof value !== "object" || value === null) return isPositiveInteger(value);
  const { max, maxAge, ...others } = value as { max?: unknown; maxAge?: unknown };
  const isAge = maxAge === undefined || (tryParseDuration(maxAge) ?? 0) >= 1;
  return isPositiveInteger(max) && isAge && Object.keys(others).length === 0;
}

/** Returns the maximum number of given-up items, and their maximum age in milliseconds. */
export function limitsOf(retention: number | GivenUpRetention): { max: number; maxAge: number } {
  if (typeof retention === "number") return { max: retention, maxAge: Infinity };
  const { max, maxAge } = retention;
  return { max, maxAge: maxAge === undefined ? Infinity : parseDuration(maxAge) };
}

/** Retention that can be changed. Queues read it at each use. */
export class LiveRetention implements GivenUpRetention {
  #retention: number | GivenUpRetention;

  constructor(retention: number | GivenUpRetention) {
    this.#retention = retention;
  }

  get max(): number {
    return typeof this.#retention === "number" ? this.#retention : this.#retention.max;
  }

  get maxAge(): Duration | undefined {
    return typeof this.#retention === "number" ? undefined : this.#retention.maxAge;
  }

  change(retention: number | GivenUpRetention): void {
    this.#retention = retention;
  }
}
