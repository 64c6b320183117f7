import { orAborted } from "../system/or_aborted.ts";
import { isShortage } from "./start_error.ts";

/** How long to wait before trying again while nothing runs that could make room: at first, and at most; milliseconds. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 1000;
/** The part of what runs that may run from then on: the runtime itself needs files and threads now and then. */
const KEPT = 0.75;
/** How often to try while nothing runs: about half a minute. */
const MAX_TRIES = 32;

/**
 * Bounds how much runs at once, and lowers that bound where the system has no room for more: too many open files, too
 * many processes.
 *
 * The bound falls below what runs when there is no room, and rises again by one for each round of as many as run at
 * once, as TCP's window does ("additive increase, multiplicative decrease"). What was not started waits until enough has
 * ended.
 */
export class StartLimit {
  #running = 0;
  /** What the system has room for, as far as that is known. */
  #room = Infinity;
  readonly #max: () => number;
  readonly #onShortage: (error: unknown) => void;
  readonly #waiting = new Set<() => void>();

  /**
   * Begins with nothing running.
   *
   * @param max Says how much may run at once where there is room; a positive integer.
   * @param onShortage Is told when there is no room.
   */
  constructor(max: () => number, onShortage: (error: unknown) => void) {
    this.#max = max;
    this.#onShortage = onShortage;
  }

  /** How much runs. */
  get running(): number {
    return this.#running;
  }

  /** How much may run at once for now. */
  get limit(): number {
    return Math.min(this.#max(), Math.floor(this.#room));
  }

  /**
   * Starts something, when there is room for it.
   *
   * @param start Starts it; rejects if it could not be started.
   * @param signal Ends the wait for room.
   * @returns What `start` gives. When that has ended, call `end`.
   * @throws {Error} What `start` rejects with, unless there may be room later.
   * @throws {Error} The signal's reason, if it aborts before there is room.
   */
  async start<R>(start: () => Promise<R>, signal: AbortSignal): Promise<R> {
    for (let tries = 1;;) {
      while (this.#running >= this.limit) await this.#place(signal);
      signal.throwIfAborted();
      this.#running++;
      try {
        return await start();
      } catch (error) {
        try {
          const others = this.#running - 1;
          if (!isShortage(error) || (others === 0 && tries === MAX_TRIES)) throw error;
          this.#room = Math.max(1, Math.min(others * KEPT, this.#room));
          this.#onShortage(error);
          if (others > 0) tries = 1;
          else await pause(Math.min(MIN_PAUSE * 2 ** (tries++ - 1), MAX_PAUSE), signal);
        } finally {
          this.#leave();
        }
      }
    }
  }

  /** Something that was started has ended. */
  end(): void {
    this.#room += 1 / this.#room;
    this.#leave();
  }

  #leave(): void {
    this.#running--;
    let room = this.limit - this.#running;
    for (const wake of this.#waiting) {
      if (room-- <= 0) break;
      this.#waiting.delete(wake);
      wake();
    }
  }

  /** Waits until something has ended. */
  async #place(signal: AbortSignal): Promise<void> {
    let wake!: () => void;
    const place = new Promise<void>((resolve) => wake = resolve);
    this.#waiting.add(wake);
    try {
      await orAborted(place, signal);
    } finally {
      this.#waiting.delete(wake);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await orAborted(new Promise<void>((resolve) => timer = setTimeout(resolve, ms)), signal);
  } finally {
    clearTimeout(timer);
  }
}
