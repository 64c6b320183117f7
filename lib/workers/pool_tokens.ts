import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import { onBucketChange } from "../tokens/bucket_changes.ts";
import { giveBackUnused } from "../tokens/unused_tokens.ts";

/** A token, or what becomes one once its delay has passed. */
type Token = ReturnType<TokenSource["reserve"]>;

/** What a pool is told of its token. */
export interface TokenEvents {
  /** A wait for a token is over. */
  onServed(): void;
  /** The token in hand is gone because the bucket was paused. */
  onTakenAway(): void;
}

/**
 * The tokens without which a pool begins no attempt. It has one in hand at most, and keeps that until it has an item.
 */
export class PoolTokens {
  readonly clock: Clock;
  readonly events: TokenEvents;
  /** The one in hand. */
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

  /** Whether there is a token in hand. If there is none to be had now, waits for one. */
  ask(): boolean {
    this.token ??= this.#line.take(this);
    return this.token !== undefined;
  }

  /**
   * An attempt begins. One that has no token, as its queue does not take the item back, costs the next one that comes.
   */
  use(): void {
    if (this.token === undefined) {
      this.leave(); // first, as one that waits counts on the order
      this.#line.takeAhead();
    }
    this.token = undefined;
  }

  /** Needs no token for now: waits no longer, and gives away the one in hand. */
  leave(): void {
    const { token } = this;
    this.token = undefined;
    if (token === undefined) this.#line.leave(this);
    else this.#line.pass(token);
  }

  /** Needs no token any more. */
  end(): void {
    this.leave();
    this.#line.quit(this);
  }
}

/**
 * The pools that take the tokens of one bucket, and those that wait for one.
 *
 * Only the first one that waits has a reservation, so nobody counts on what others reserved: one that leaves gives its
 * token to the next, and a change of the rate moves nobody in the line.
 */
class TokenLine {
  readonly #source: TokenSource;
  readonly #pools = new Set<PoolTokens>();
  readonly #waiting = new Set<PoolTokens>();
  /** What was not used, of a bucket that takes nothing back. */
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

  /** Takes a token, if there is one and nobody waits. If not, stands in line. */
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

  /** Takes a token that nobody waits for, be it one that is yet to come. */
  takeAhead(): void {
    try {
      if (this.#spare.pop() === undefined) this.#source.reserve();
    } catch {
      // Of a bucket of somebody else's. Who asks for a token meets the error.
    }
  }

  leave(pool: PoolTokens): void {
    if (!this.#waiting.delete(pool)) return;
    if (this.#waiting.size > 0) return this.#serve(); // by the clock of another one
    this.#cancel();
    this.#clearTimer?.();
  }

  /** A token that is not used is for the first one that waits. If nobody does, the bucket has it again. */
  pass(token: Token): void {
    const [first] = this.#waiting;
    if (first !== undefined) {
      first.token = token;
      this.leave(first);
      first.events.onServed();
    } else if (!giveBackUnused(token)) this.#spare.push(token);
  }

  /** What was granted is given back and asked for anew: those who wait do so here, the others when they look again. */
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

  /** Gives tokens to those who wait, one after the other, until one of them has to wait longer. */
  #serve(): void {
    for (const first of this.#waiting) {
      this.#clearTimer?.();
      try {
        const delay = delayOf(this.#reservation ??= this.#source.reserve());
        if (delay > 0) return this.#sleep(first, delay);
        first.token = this.#reservation;
      } catch {
        // Of a bucket of somebody else's. Who asks again meets the error.
      }
      this.#reservation = undefined;
      this.#waiting.delete(first);
      first.events.onServed();
    }
  }

  #sleep({ clock }: PoolTokens, delay: number): void {
    if (delay === Infinity) return this.#cancel(); // there is one to ask for again when the bucket is changed
    const timer = clock.setTimeout(() => {
      this.#clearTimer = undefined;
      this.#serve();
    }, Math.min(Math.ceil(delay), MAX_TIMEOUT));
    this.#clearTimer = () => {
      this.#clearTimer = undefined;
      clock.clearTimeout(timer);
    };
  }

  /** Gives the reservation back, be its time yet to come or over. */
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
