import type { AttemptResult, OwnThrottle, Permit, ThrottleSnapshot } from "../contracts/throttle.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import { onBucketChange } from "./bucket_changes.ts";
import { delayOf, giveBackGrant, type Grant, grantTokens } from "./grants.ts";
import type { TokenLevel } from "./token_level.ts";

/** Permit that took a token. */
class BucketPermit implements Permit {
  readonly #throttle: BucketThrottle;
  readonly #grant: Grant;

  constructor(throttle: BucketThrottle, grant: Grant) {
    this.#throttle = throttle;
    this.#grant = grant;
  }

  begin(cost: number): void {
    if (cost !== 1 && !this.#throttle.ignoresCosts) this.#throttle.charge(cost - 1);
  }

  charge(cost: number): void {
    const throttle = this.#throttle;
    if (throttle.ignoresCosts) return;
    throttle.charge(cost);
    if (cost < 0) throttle.tell();
  }

  end({ outcome }: AttemptResult): void {
    if (outcome === "unused") this.#throttle.giveBack(this.#grant);
  }
}

/**
 * Token bucket as a throttle: each attempt takes one token, or as many as it costs.
 *
 * The first refusal reserves the next token. The reservation is kept for the next call of `acquire`, so that limiters
 * that reserve tokens of the same bucket can't delay attempts again and again.
 */
export class BucketThrottle implements OwnThrottle {
  readonly ignoresDurations = true;
  /** Whether each attempt takes one token, whatever it costs. */
  ignoresCosts = false;
  readonly #bucket: TokenSource;
  readonly #level: TokenLevel;
  #reserved: Grant | undefined = undefined;
  /** Tells the listeners of the bucket that an attempt gave tokens back. */
  readonly tell: () => void;

  constructor(bucket: TokenSource, level: TokenLevel, tell: () => void) {
    this.#bucket = bucket;
    this.#level = level;
    this.tell = tell;
  }

  acquire(): Permit | number {
    const level = this.#level;
    const time = level.time();
    const grant = this.#reserved ?? grantTokens(level, 1, time);
    const delay = delayOf(grant, time);
    this.#reserved = undefined;
    if (delay === 0) return new BucketPermit(this, grant!);
    if (delay < Infinity) this.#reserved = grant;
    else if (grant !== undefined) this.giveBack(grant);
    return delay;
  }

  leave(): void {
    const reserved = this.#reserved;
    this.#reserved = undefined;
    if (reserved !== undefined) this.giveBack(reserved);
  }

  /**
   * Takes tokens, possibly more than the bucket contains. No attempt starts until the tokens are paid back. A negative
   * number of tokens is given back.
   */
  charge(cost: number): void {
    this.leave(); // the next token comes later
    this.#level.add(-cost, this.#level.time());
  }

  giveBack(grant: Grant): void {
    giveBackGrant(this.#level, grant);
  }

  onChange(callback: () => void): () => void {
    return onBucketChange(this.#bucket, () => {
      this.leave(); // a reservation keeps its time even if the bucket becomes faster or is paused
      callback();
    });
  }

  snapshot(): ThrottleSnapshot {
    const level = this.#level;
    const time = level.time();
    const isPaused = level.pausedUntil > time;
    const tokens = level.tokensAt(level.ownTime(time));
    const state = isPaused ? "paused" : tokens < 1 ? "empty" : "";
    return { limit: Infinity, inUse: 0, state };
  }
}
