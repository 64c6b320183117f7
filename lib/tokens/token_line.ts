import { MAX_TIMEOUT } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import { Waiters } from "../structures/waiters.ts";
import { cancelGrant, delayOf, type Grant, grantTokens } from "./grants.ts";
import type { TokenLevel } from "./token_level.ts";

/** Subscribes to a bucket's changes. Returns an unsubscribe function. */
type Subscribe = (callback: (isPause: boolean) => void) => () => void;

/** Calls that wait for tokens, served in order. Only the first pending call takes future tokens. */
export class TokenLine {
  readonly #level: TokenLevel;
  readonly #onChange: Subscribe;
  /** Whether a call is pending. */
  #isBusy = false;
  /** Calls behind the first one. Each resolves with the time from which the previous call's tokens could be used. */
  readonly #queued = new Waiters<number | undefined>();

  constructor(level: TokenLevel, onChange: Subscribe) {
    this.#level = level;
    this.#onChange = onChange;
  }

  get isEmpty(): boolean {
    return !this.#isBusy;
  }

  /** Takes tokens, and waits until they may be used. See `TokenBucket.wait`. */
  async wait(n: number, signal: AbortSignal | undefined): Promise<void> {
    const level = this.#level;
    if (n > level.burst && level.rate !== Infinity) throw this.#tooMany(n);
    let turn: number | undefined;
    if (this.#isBusy) turn = await this.#queued.wait(signal);
    this.#isBusy = true;
    let grant: Grant | undefined;
    try {
      signal?.throwIfAborted(); // the signal may have aborted just as this call's turn came
      grant = this.#grantInTurn(n, turn);
      for (let ms = delayOf(grant, level.time()); ms > 0; ms = delayOf(grant, level.time())) {
        const hasChanged = await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
        // If the timer is late and the tokens can already be used, keep them
        if (!hasChanged || delayOf(grant, level.time()) === 0) continue;
        cancelGrant(level, grant);
        grant = undefined;
        grant = this.#grantInTurn(n);
      }
    } catch (error) {
      if (grant !== undefined) cancelGrant(level, grant);
      grant = undefined;
      throw error;
    } finally {
      if (this.#queued.length === 0) this.#isBusy = false;
      else this.#queued.remove().resolve(grant?.usableAt);
    }
  }

  /**
   * Takes the tokens for a call. If the bucket has not been used since the previous call was served, takes the tokens
   * as of the moment when that call was served. Otherwise, takes the tokens as of now. If the current time were always
   * used, tokens would be lost whenever the timer fires late and the bucket is already full.
   */
  #grantInTurn(n: number, turn = Infinity): Grant {
    const level = this.#level;
    const now = level.time();
    const grant = grantTokens(level, n, turn < now && level.ownTime(turn) >= level.last ? turn : now);
    if (grant === undefined) throw this.#tooMany(n);
    return grant;
  }

  #tooMany(n: number): Error {
    return invalidArgument("wait for tokens", "n", `must not exceed the burst of ${this.#level.burst}`, n);
  }

  /** Resolves to `false` after the delay, or to `true` as soon as the bucket changes. Pauses are ignored. */
  #sleep(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { clock } = this.#level;
    return new Promise((resolve, reject) => {
      const end = (isChange: boolean) => {
        unwatch();
        signal?.removeEventListener("abort", onAbort);
        resolve(isChange);
      };
      const onAbort = () => {
        unwatch();
        clock.clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = clock.setTimeout(() => end(false), ms);
      const unwatch = this.#onChange((isPause) => {
        if (isPause) return;
        clock.clearTimeout(timer);
        end(true);
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
