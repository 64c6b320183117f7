import { assert } from "@std/assert";
import type { AttemptResult, Permit, Throttle } from "@workqueue/core";

/** Acquires a permit, which must be granted, and begins an attempt with it. */
export function begin(throttle: Throttle, cost = 1): Permit {
  const permit = throttle.acquire();
  assert(typeof permit !== "number", `refused for ${String(permit)} ms`);
  permit.begin(cost);
  return permit;
}

/** Result of an attempt. */
export function result(outcome: AttemptResult["outcome"], durationMs = 10): AttemptResult {
  return { outcome, durationMs };
}

/** Makes attempts one after the other. */
export function attempt(throttle: Throttle, outcome: AttemptResult["outcome"], times = 1, durationMs = 10): void {
  for (let i = 0; i < times; i++) begin(throttle).end(result(outcome, durationMs));
}

/** Makes as many attempts at once as the throttle allows. */
export function round(throttle: Throttle, outcome: AttemptResult["outcome"], durationMs = 10): void {
  const permits: Permit[] = [];
  for (let permit = throttle.acquire(); typeof permit !== "number"; permit = throttle.acquire()) {
    permit.begin(1);
    permits.push(permit);
  }
  for (const permit of permits) permit.end(result(outcome, durationMs));
}

/** Limit of a throttle at the moment. */
export function limitOf(throttle: Throttle): number {
  return throttle.snapshot!().limit;
}
