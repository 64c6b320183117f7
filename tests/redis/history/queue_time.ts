/** Time of a queue under a clock that a test sets: see `packages/redis/lua/steady_time.lua`. */

const STEP_BACK = 100_000;

/** Time of a queue, in microseconds. */
export class QueueTime {
  #last = 0;
  #offset = 0;

  /** Returns the time of the queue when the server's clock shows this time. */
  at(serverTime: number): number {
    const goesBack = this.#last - serverTime - this.#offset > STEP_BACK;
    return Math.max(this.#last, serverTime + (goesBack ? this.#last - serverTime : this.#offset));
  }

  /** Records that a script reads this time. Returns it. */
  read(serverTime: number): number {
    const now = this.at(serverTime);
    if (this.#last - serverTime - this.#offset > STEP_BACK) this.#offset = this.#last - serverTime;
    this.#last = now;
    return serverTime;
  }
}
