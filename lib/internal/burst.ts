/** How long work may go on without a pause, in milliseconds, and after how many pieces of it one looks. */
const MAX_BURST = 10;
const PIECES_PER_LOOK = 8;

/** As it was when this module was loaded: fake timers that came later leave it alone. */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/**
 * Work that goes on without waiting for anything but promises.
 *
 * Promises go before timers and I/O: where there is always one more piece of work, and none of them waits,
 * these would never have their turn.
 */
export class Burst {
  #pieces = 0;
  #beganAt = 0;
  #pause: Promise<void> | undefined = undefined;

  /** To be asked before each piece: the pause to wait for first, if it is time for one. It is the same for all who ask. */
  pause(): Promise<void> | undefined {
    if (this.#pieces++ === 0) this.#beganAt = performance.now();
    if (this.#pause === undefined && this.#isTooLong()) {
      this.#pause = new Promise((resolve) =>
        nextTask(() => {
          this.#pause = undefined;
          this.end();
          resolve();
        })
      );
    }
    return this.#pause;
  }

  end(): void {
    this.#pieces = 0;
  }

  #isTooLong(): boolean {
    return this.#pieces % PIECES_PER_LOOK === 0 && performance.now() - this.#beganAt >= MAX_BURST;
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
