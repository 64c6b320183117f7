import { orAborted } from "../system/or_aborted.ts";
import { Slots } from "./slots.ts";
import { isShortage } from "./start_error.ts";

/**
 * Pause, in milliseconds, after a command first fails to start while no other command is running. Each later pause is
 * twice as long as the previous one.
 */
const MIN_PAUSE = 100;
/** Longest pause between two attempts to start a command, in milliseconds. */
const MAX_PAUSE = 1000;
/**
 * Limit after a shortage, as a fraction of the number of running commands. The fraction is below 1 because the runtime
 * itself sometimes needs files and threads.
 */
const KEPT = 0.75;
/**
 * Maximum number of attempts to start a command while no other command is running. Together, they take about half a
 * minute.
 */
const MAX_ATTEMPTS = 32;

/**
 * Limits how many commands run at once. Lowers the limit while the system has too many open files or processes.
 *
 * In a shortage, the limit falls below the number of running commands. As commands end, the limit rises again: by about
 * one each time that as many commands have ended as may run at once. This is how TCP's congestion window works
 * ("additive increase, multiplicative decrease"). Commands beyond the limit wait until others have ended.
 */
export class StartLimit {
  readonly #slots = new Slots();
  /** Estimated number of commands that the system can run at once. */
  #room = Infinity;
  readonly #max: () => number;
  readonly #onShortage: (error: unknown) => void;
  readonly #waiting = new Set<() => void>();

  /**
   * Creates a limit with no running commands.
   *
   * @param max Returns the maximum number of concurrent commands if the system has room for them: a positive integer.
   * @param onShortage Called with the error when the system lacks the resources for another command.
   */
  constructor(max: () => number, onShortage: (error: unknown) => void) {
    this.#max = max;
    this.#onShortage = onShortage;
  }

  /** Number of running commands. */
  get running(): number {
    return this.#slots.count;
  }

  /** Number of commands that may currently run at once. */
  get limit(): number {
    return Math.min(this.#max(), Math.floor(this.#room));
  }

  /**
   * Starts a command as soon as there is room for it.
   *
   * @param start Starts the command in the given slot. Rejects if the command could not be started.
   * @param signal Cancels the wait for room.
   * @returns The result of `start`. Call `end` with the slot when the command has ended.
   * @throws {Error} The error from `start`, if it is not a shortage, or if the shortage persists even while no other
   * command is running.
   * @throws {Error} The signal's reason, if the signal aborts before there is room.
   */
  async start<R>(start: (slot: number) => Promise<R>, signal: AbortSignal): Promise<R> {
    for (let attempts = 1;;) {
      while (this.running >= this.limit) await this.#place(signal);
      signal.throwIfAborted();
      const slot = this.#slots.take();
      try {
        return await start(slot);
      } catch (error) {
        try {
          const others = this.running - 1;
          if (!isShortage(error) || (others === 0 && attempts === MAX_ATTEMPTS)) throw error;
          this.#room = Math.max(1, Math.min(others * KEPT, this.#room));
          this.#onShortage(error);
          if (others > 0) attempts = 1;
          else await pause(Math.min(MIN_PAUSE * 2 ** (attempts++ - 1), MAX_PAUSE), signal);
        } finally {
          this.#leave(slot);
        }
      }
    }
  }

  /** Records the end of the command in a slot. */
  end(slot: number): void {
    this.#room += 1 / this.#room;
    this.#leave(slot);
  }

  #leave(slot: number): void {
    this.#slots.free(slot);
    let room = this.limit - this.running;
    for (const wake of this.#waiting) {
      if (room-- <= 0) break;
      this.#waiting.delete(wake);
      wake();
    }
  }

  /** Waits until there might be room for another command. */
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
