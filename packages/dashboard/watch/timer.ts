import { systemClock } from "@workqueue/core";

/** Calls a function at regular intervals. Doesn't keep the process alive. */
export class Timer {
  readonly #action: () => void;
  readonly #every: number;
  #handle: unknown;
  #next = 0;

  constructor(every: number, action: () => void) {
    this.#every = every;
    this.#action = action;
  }

  get isOn(): boolean {
    return this.#handle !== undefined;
  }

  start(): void {
    if (this.isOn) return;
    this.#next = systemClock.now() + this.#every;
    this.#set();
  }

  stop(): void {
    if (this.isOn) systemClock.clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  #set(): void {
    this.#handle = setUnref(() => {
      const now = systemClock.now();
      this.#next = Math.max(this.#next + this.#every, now); // skips calls missed during a suspend
      this.#set();
      this.#action();
    }, Math.max(this.#next - systemClock.now(), 0));
  }
}

/** Waits for a promise for at most `ms` milliseconds. The promise must never reject. Doesn't keep the process alive. */
export function waitFor(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const handle = setUnref(resolve, ms);
    promise.then(() => {
      systemClock.clearTimeout(handle);
      resolve();
    });
  });
}

/**
 * Returns the result of a promise; `undefined` if the promise takes more than `ms` milliseconds. Doesn't keep the
 * process alive.
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let handle: unknown;
  const late = new Promise<undefined>((resolve) => handle = setUnref(() => resolve(undefined), ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    systemClock.clearTimeout(handle);
  }
}

/** Sets a timer that doesn't keep the process alive. */
export function setUnref(callback: () => void, ms: number): unknown {
  const handle = systemClock.setTimeout(callback, ms) as { unref?(): void };
  handle.unref?.();
  return handle;
}
