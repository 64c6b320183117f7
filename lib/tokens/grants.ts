import type { TokenLevel } from "./token_level.ts";
import { FOREVER, timeFor, toDelay, tokensIn } from "../policy/tokens.ts";

/** Granted tokens, the rate at the time of the grant, and the time from which the tokens may be used. */
export interface Grant {
  readonly tokens: number;
  readonly rate: number;
  /**
   * Time from which the tokens may be used, in the clock's time. Neither a later pause nor the early end of a pause
   * changes this time.
   */
  readonly usableAt: number;
  /** The value of `usableAt` in the level's own time, for comparison with later grants. */
  readonly event: number;
}

/** Takes tokens as of a given moment. Returns `undefined` if `n` exceeds the burst while the rate is finite. */
export function grantTokens(level: TokenLevel, n: number, time: number): Grant | undefined {
  const wait = level.take(n, Infinity, time);
  if (wait === undefined) return undefined;
  const usableAt = time + wait;
  const event = usableAt - level.paused;
  if (level.rate !== Infinity) return { tokens: n, rate: level.rate, usableAt, event };
  // At an infinite rate, no tokens are taken. Canceling at the moment of the grant nevertheless adds the tokens if
  // the rate has become finite, as in Go. However, that moment would last for the whole length of a pause, so
  // canceling a reservation that was made during a pause adds no tokens.
  return { tokens: wait > 0 ? 0 : n, rate: 0, usableAt, event };
}

/** Returns the time until granted tokens may be used, in milliseconds; `Infinity` without a grant. */
export function delayOf(grant: Grant | undefined, time: number): number {
  return toDelay((grant?.usableAt ?? FOREVER) - time);
}

/** Puts granted tokens back, except the tokens that later grants depend on, unless they may be used already. */
export function cancelGrant(level: TokenLevel, { tokens, rate, usableAt, event }: Grant): void {
  const time = level.time();
  if (level.rate === Infinity || tokens === 0 || usableAt < time) return;

  // The tokens on which later grants depend are not restored.
  const restored = tokens - tokensIn(level.lastEvent - event, rate);
  if (restored <= 0) return;
  const now = level.add(restored, time);
  const previousEvent = event + timeFor(-tokens, rate);
  if (event === level.lastEvent && previousEvent >= now) level.lastEvent = previousEvent;
}

/**
 * Puts granted tokens that were not used back, even after the time from which they may be used. After that time, all of
 * the tokens are put back, even if more tokens were granted later.
 */
export function giveBackGrant(level: TokenLevel, grant: Grant): void {
  const time = level.time();
  if (grant.usableAt > time) cancelGrant(level, grant);
  else if (level.rate !== Infinity) level.add(grant.tokens, time);
}
