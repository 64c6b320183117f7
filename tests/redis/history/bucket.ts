/** Check that no token bucket is over-spent. */

import type { History } from "./history.ts";

/** Time, in microseconds, by which a token of a hand-out may be ahead of the time at which the bucket was asked. */
const TICKS = 500;

/** Returns violations: hand-outs for which the bucket of the attempts had no token. */
export function buckets(history: History): string[] {
  const wrong: string[] = [];
  const levels = new Map<string, { tokens: number; at: number }>();
  for (const { key, token, bucket } of history.handOuts) {
    if (bucket === undefined) continue;
    const { id, rate, burst } = bucket;
    const { tokens, at } = levels.get(id) ?? { tokens: burst, at: token };
    const left = Math.min(burst, tokens + (token - at) / 1e6 * rate) - 1;
    if (left < -rate * TICKS / 1e6) {
      wrong.push(`${key} was handed out by ${token} with ${left + 1} tokens in the bucket`);
    }
    levels.set(id, { tokens: left, at: token });
  }
  return wrong;
}
