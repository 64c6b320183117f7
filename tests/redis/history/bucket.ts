/** Check that no token bucket is over-spent. */

import type { AttemptBucket } from "@workqueue/engine";
import type { HandOut, History } from "./history.ts";

/** Rate of each group of a queue. */
export interface GroupRate {
  readonly groupOf: (key: string) => string;
  readonly rate: number;
  readonly burst: number;
}

/** Time, in microseconds, by which a token of a hand-out may be ahead of the time at which the bucket was asked. */
const TICKS = 500;

/** Returns violations: hand-outs for which the bucket of the attempts had no token. */
export function buckets(history: History): string[] {
  return overSpent(history, ({ bucket }) => bucket);
}

/** Returns violations: hand-outs for which the rate of the group had no token. */
export function groupRates(history: History, { groupOf, rate, burst }: GroupRate): string[] {
  return overSpent(history, ({ key }) => ({ id: groupOf(key), rate, burst }));
}

function overSpent(history: History, bucketOf: (handOut: HandOut) => AttemptBucket | undefined): string[] {
  const wrong: string[] = [];
  const levels = new Map<string, { tokens: number; at: number }>();
  for (const handOut of history.handOuts) {
    const bucket = bucketOf(handOut);
    if (bucket === undefined) continue;
    const { key, token } = handOut;
    const { id, rate, burst } = bucket;
    const { tokens, at } = levels.get(id) ?? { tokens: burst, at: token };
    const left = Math.min(burst, tokens + (token - at) / 1e6 * rate) - 1;
    if (left < -rate * TICKS / 1e6) {
      wrong.push(`${key} was handed out by ${token} with ${left + 1} tokens in the bucket ${id}`);
    }
    levels.set(id, { tokens: left, at: token });
  }
  return wrong;
}
