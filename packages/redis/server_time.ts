/** How far the server's time may be from what is expected, as a part of a lease. The script allows the same. */
const TOLERANCE = 1 / 4;
/** How fast two clocks may drift apart. */
const DRIFT = 1 / 1000;

/**
 * The time of the server, as far as it is known here, and since when there is no doubt about it.
 *
 * Leases of others may be taken away only by who was in touch with the server for a whole lease: while it was away, or its
 * clock jumped, nobody could renew. Times are in milliseconds.
 */
export class ServerTime {
  readonly #lease: number;
  /** What the server's clock is ahead of ours by, at least: answers are read some time after they were given. */
  #offset: number | undefined = undefined;
  #observedAt = 0;
  #inTouchSince = 0;

  constructor(lease: number) {
    this.#lease = lease;
  }

  /** A call that was sent at `sentAt` ran when the server's clock said `time`, in microseconds. */
  observe(time: number, sentAt: number): void {
    const server = time / 1000;
    const now = performance.now();
    const offset = server - now;
    // Late is what ran long after it was sent. How late the answer is read says nothing: this process may have been busy.
    const lateness = this.#offset === undefined ? Infinity : server - sentAt - this.#offset;
    if (Math.abs(lateness) > this.#lease * TOLERANCE) {
      this.#inTouchSince = now;
      this.#offset = offset;
    } else {
      this.#offset = Math.max(offset, this.#offset! - (now - this.#observedAt) * DRIFT);
    }
    this.#observedAt = now;
  }

  /** The connection was lost. */
  interrupt(): void {
    this.#offset = undefined;
  }

  /** What the server's clock should say now, in microseconds; `undefined` without touch for a whole lease. */
  expect(): number | undefined {
    if (this.#offset === undefined || this.trustedIn() > 0) return undefined;
    return Math.round((this.#offset + performance.now()) * 1000);
  }

  /** In how many milliseconds the touch will have lasted for a lease. */
  trustedIn(): number {
    return this.#offset === undefined ? Infinity : Math.max(this.#inTouchSince + this.#lease - performance.now(), 0);
  }
}
