import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import { onBucketChange } from "../tokens/bucket_changes.ts";
import { giveBackUnused } from "../tokens/unused_tokens.ts";

/** A token, or a reservation that becomes a token when its delay has passed. */
type Token = ReturnType<TokenSource["reserve"]>;

/** Callbacks that notify a pool of changes to its token. */
export interface TokenEvents {
  /** Called when the pool's wait for a token is over. */
  onServed(): void;
  /** Called when the pool lost its token because the bucket was paused. */
  onTakenAway(): void;
}

/**
 * Tokens of one pool, which needs a token for each attempt. The pool keeps at most one unused token, until an item
 * arrives.
 */
export class PoolTokens {
  readonly clock: Clock;
  readonly events: TokenEvents;
  /** The unused token. */
  token: Token | undefined = undefined;
  readonly #line: TokenLine;

  constructor(source: TokenSource, clock: Clock, events: TokenEvents) {
    this.clock = clock;
    this.events = events;
    this.#line = lineOf(source);
    this.#line.join(this);
  }

  get isWaiting(): boolean {
    return this.#line.has(this);
  }

  /** Reports whether the pool has a token. If no token is available now, adds the pool to the line. */
  ask(): boolean {
    this.token ??= this.#line.take(this);
    return this.token !== undefined;
  }

  /**
   * Uses up the token for an attempt that starts. An attempt whose item the queue refuses to take back starts even if
   * the pool has no token. In that case, takes the next token in advance.
   */
  use(): void {
    if (this.token === undefined) {
      this.leave(); // first, because a reservation can't be given back after a later one was made
      this.#line.takeAhead();
    }
    this.token = undefined;
  }

  /** Stops waiting for a token, and passes on the unused token, if there is one. */
  leave(): void {
    const { token } = this;
    this.token = undefined;
    if (token === undefined) this.#line.leave(this);
    else this.#line.pass(token);
  }

  /** Ends the pool's use of tokens. */
  end(): void {
    this.leave();
    this.#line.quit(this);
  }
}

/**
 * Pools that take tokens from the same bucket, and the line of pools that wait for a token.
 *
 * Only the first waiting pool has a reservation, so no pool's delay depends on the reservation of another pool. A pool
 * that leaves passes its token to the next pool, and a change to the rate doesn't affect the order of the line.
 */
class TokenLine {
  readonly #source: TokenSource;
  readonly #pools = new Set<PoolTokens>();
  readonly #waiting = new Set<PoolTokens>();
  /** Unused tokens of a bucket that doesn't take tokens back. */
  readonly #spare: Token[] = [];
  #reservation: Token | undefined = undefined;
  #clearTimer: (() => void) | undefined = undefined;
  #endWatch: (() => void) | undefined = undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  join(pool: PoolTokens): void {
    this.#pools.add(pool);
    this.#endWatch ??= onBucketChange(this.#source, (isPause) => this.#onChange(isPause));
  }

  quit(pool: PoolTokens): void {
    this.#pools.delete(pool);
    if (this.#pools.size > 0) return;
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  has(pool: PoolTokens): boolean {
    return this.#waiting.has(pool);
  }

  /** Takes a token if one is available and no pool is waiting. Otherwise adds the pool to the line. */
  take(pool: PoolTokens): Token | undefined {
    if (this.#waiting.size > 0) {
      this.#waiting.add(pool);
      return undefined;
    }
    const token = this.#spare.pop() ?? this.#source.reserve();
    const delay = delayOf(token);
    if (delay <= 0) return token;
    this.#reservation = token;
    this.#waiting.add(pool);
    this.#sleep(pool, delay);
    return undefined;
  }

  /** Reserves the next token for an attempt that doesn't wait for it. Later requests wait correspondingly longer. */
  takeAhead(): void {
    try {
      if (this.#spare.pop() === undefined) this.#source.reserve();
    } catch {
      // A third-party bucket threw. The next request for a token throws the error.
    }
  }

  leave(pool: PoolTokens): void {
    if (!this.#waiting.delete(pool)) return;
    if (this.#waiting.size > 0) return this.#serve(); // restarts the timer with the clock of the first waiting pool
    this.#cancel();
    this.#clearTimer?.();
  }

  /** Passes an unused token to the first waiting pool. If no pool is waiting, puts the token back in the bucket. */
  pass(token: Token): void {
    const [first] = this.#waiting;
    if (first !== undefined) {
      first.token = token;
      this.leave(first);
      first.events.onServed();
    } else if (!giveBackUnused(token)) this.#spare.push(token);
  }

  /**
   * After a change to the bucket, replaces the reservation with a new one for the waiting pools. If the bucket was
   * paused, also takes away the unused tokens of all pools. The pools request new tokens later.
   */
  #onChange(isPause: boolean): void {
    if (isPause) { for (const pool of this.#pools) this.#takeAway(pool); }
    this.#cancel();
    this.#serve();
  }

  #takeAway(pool: PoolTokens): void {
    if (pool.token === undefined || !giveBackUnused(pool.token)) return;
    pool.token = undefined;
    pool.events.onTakenAway();
  }

  /** Gives tokens to the waiting pools, in order, for as long as tokens are available. */
  #serve(): void {
    for (const first of this.#waiting) {
      this.#clearTimer?.();
      try {
        const delay = delayOf(this.#reservation ??= this.#source.reserve());
        if (delay > 0) return this.#sleep(first, delay);
        first.token = this.#reservation;
      } catch {
        // A third-party bucket threw. The next request for a token throws the error.
      }
      this.#reservation = undefined;
      this.#waiting.delete(first);
      first.events.onServed();
    }
  }

  #sleep({ clock }: PoolTokens, delay: number): void {
    if (delay === Infinity) return this.#cancel(); // the token is requested again when the bucket changes
    const timer = clock.setTimeout(() => {
      this.#clearTimer = undefined;
      this.#serve();
    }, Math.min(Math.ceil(delay), MAX_TIMEOUT));
    this.#clearTimer = () => {
      this.#clearTimer = undefined;
      clock.clearTimeout(timer);
    };
  }

  /** Gives back the reservation, whether or not its delay has passed. */
  #cancel(): void {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    if (reservation !== undefined && !giveBackUnused(reservation)) reservation.cancel();
  }
}

function delayOf({ ok, delay }: Token): number {
  return ok ? delay : Infinity;
}

const lines = /* @__PURE__ */ new WeakMap<TokenSource, TokenLine>();

function lineOf(source: TokenSource): TokenLine {
  let line = lines.get(source);
  if (line === undefined) lines.set(source, line = new TokenLine(source));
  return line;
}
