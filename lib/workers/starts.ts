import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import type { TokenSource } from "../contracts/token_source.ts";
import { onBucketChange } from "../structures/bucket_changes.ts";
import type { TokenBucket } from "../structures/token_bucket.ts";

type Reservation = ReturnType<TokenSource["reserve"]>;

/** The tokens without which a pool begins no attempt. It has one in hand at most, and keeps that until it has an item. */
export class Starts {
  readonly clock: Clock;
  readonly #onServed: () => void;
  readonly #line: TokenLine;
  #hasToken = false;

  /** `onServed` is called when a wait for a token is over. */
  constructor(source: TokenSource, clock: Clock, onServed: () => void) {
    this.clock = clock;
    this.#onServed = onServed;
    this.#line = lineOf(source);
  }

  get isWaiting(): boolean {
    return this.#line.has(this);
  }

  /** Whether there is a token in hand. If there is none to be had now, waits for one. */
  ask(): boolean {
    return this.#hasToken ||= this.#line.take(this);
  }

  /** An attempt begins. */
  use(): void {
    this.#hasToken = false;
  }

  /** Waits no longer. */
  leave(): void {
    this.#line.leave(this);
  }

  /** The wait is over, as a rule with a token. */
  serve(hasToken: boolean): void {
    this.#hasToken = hasToken;
    this.#onServed();
  }
}

/**
 * The pools that wait for tokens of one bucket.
 *
 * Only the first one has a reservation, so nobody counts on what others reserved: one that leaves gives its token to the
 * next, and a change of the rate moves nobody in the line.
 */
class TokenLine {
  readonly #source: TokenSource;
  readonly #waiting = new Set<Starts>();
  #reservation: Reservation | undefined = undefined;
  #clearTimer: (() => void) | undefined = undefined;
  #endWatch: (() => void) | undefined = undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  has(starts: Starts): boolean {
    return this.#waiting.has(starts);
  }

  /** Takes a token, if there is one and nobody waits. If not, stands in line. */
  take(starts: Starts): boolean {
    if (this.#waiting.size > 0) {
      this.#waiting.add(starts);
      return false;
    }
    const reservation = this.#source.reserve();
    const delay = delayOf(reservation);
    if (delay <= 0) return true;
    this.#reservation = reservation;
    this.#waiting.add(starts);
    this.#endWatch = onBucketChange(this.#source as TokenBucket, () => this.#onChange());
    this.#sleep(starts, delay);
    return false;
  }

  leave(starts: Starts): void {
    if (!this.#waiting.delete(starts)) return;
    if (this.#waiting.size > 0) return this.#serve(); // by the clock of another one
    this.#cancel();
    this.#close();
  }

  #onChange(): void {
    this.#cancel();
    this.#serve();
  }

  /** Gives tokens to those who wait, one after the other, until one of them has to wait longer. */
  #serve(): void {
    for (const first of this.#waiting) {
      this.#clearTimer?.();
      let hasToken = false;
      try {
        const delay = delayOf(this.#reservation ??= this.#source.reserve());
        if (delay > 0) return this.#sleep(first, delay);
        hasToken = true;
      } catch {
        // Of a bucket of somebody else's, or of a clock. Who asks again meets the error.
      }
      this.#reservation = undefined;
      this.#waiting.delete(first);
      if (this.#waiting.size === 0) this.#close();
      first.serve(hasToken);
    }
  }

  #sleep({ clock }: Starts, delay: number): void {
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

  #cancel(): void {
    this.#reservation?.cancel();
    this.#reservation = undefined;
  }

  #close(): void {
    this.#clearTimer?.();
    this.#endWatch?.();
    this.#endWatch = undefined;
  }
}

function delayOf({ ok, delay }: Reservation): number {
  return ok ? delay : Infinity;
}

const lines = /* @__PURE__ */ new WeakMap<TokenSource, TokenLine>();

function lineOf(source: TokenSource): TokenLine {
  let line = lines.get(source);
  if (line === undefined) lines.set(source, line = new TokenLine(source));
  return line;
}
