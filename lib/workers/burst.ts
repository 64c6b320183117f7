/** After how long it is time for a pause, in milliseconds. */
const MAX_BURST = 10;

/**
 * Looking at the clock takes as long as a small piece of work. So it is done after 1, 2, 4 and 8 pieces, and then
 * after each eight: as many may go on too long, where they were quick before.
 */
const MAX_PIECES_PER_LOOK = 8;

/** As it was when this module was loaded: fake timers that came later leave it alone. */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/**
 * Work that goes on without waiting for anything but promises.
 *
 * Promises go before timers and I/O: where there is always one more piece of work, and none of them waits,
 * these would never have their turn. A burst lasts until they had it.
 */
export class Burst {
  /** Undefined between bursts. */
  #over: Promise<void> | undefined = undefined;
  #beganAt = 0;
  #isTooLong = false;
  #pieces = 0;
  /** After how many pieces to look at the clock. */
  #lookAfter = 1;

  /**
   * To be asked before each piece of work: whether it has to wait until the burst is over. Who waited asks again,
   * as others may have begun the next burst.
   */
  isTooLong(): boolean {
    if (this.#over === undefined) this.#begin();
    else if (++this.#pieces === this.#lookAfter) this.#look();
    return this.#isTooLong;
  }

  /** Resolves when timers and I/O have had their turn. */
  get over(): Promise<void> {
    return this.#over ?? Promise.resolve();
  }

  #begin(): void {
    this.#beganAt = performance.now();
    this.#isTooLong = false;
    this.#pieces = 0;
    this.#lookAfter = 1;
    this.#over = new Promise((resolve) =>
      nextTask(() => {
        this.#over = undefined;
        resolve();
      })
    );
  }

  #look(): void {
    this.#isTooLong = performance.now() - this.#beganAt >= MAX_BURST;
    this.#lookAfter += Math.min(this.#pieces, MAX_PIECES_PER_LOOK);
  }
}

/** Calls back in a task of its own: after the timers and the I/O that are due now have had their turn. */
export function nextTask(callback: () => void): void {
  if (setImmediate !== undefined) {
    setImmediate(callback);
    return;
  }
  // In browsers a message is as quick as it gets, where a timer may wait for four milliseconds.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(undefined);
}
