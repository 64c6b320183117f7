import { setTimeout as delay } from "node:timers/promises";
import { toError } from "./errors.ts";
import type { Wire } from "./wire.ts";

/** What a user of a line is told. */
export interface LineEvents<W extends Wire> {
  /** There is a wire. */
  onUp(wire: W): void;
  /** It has ended. */
  onDown(reason: Error): void;
  /** There could be none. */
  onRefused(error: Error): void;
}

const FIRST_DELAY = 50;
const MAX_DELAY = 1000;

/**
 * Keeps a wire up: dials, and when the wire has ended, dials again, for as long as it takes. Pauses grow from 50 ms to
 * a second, and end at random within their second half, so that many processes do not come back at once.
 */
export class Line<W extends Wire> {
  /** Why there was no wire the last time that there was none. */
  lastError: Error | undefined;
  readonly #dial: (signal: AbortSignal) => Promise<W>;
  readonly #events: LineEvents<W>;
  readonly #closing = new AbortController();
  #wire: W | undefined;
  #attempts = 0;
  #isStarted = false;

  constructor(dial: (signal: AbortSignal) => Promise<W>, events: LineEvents<W>) {
    this.#dial = dial;
    this.#events = events;
  }

  /** Begins, at the first call. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#run();
  }

  /** The wire does what it is there for: if it ends now, the first pause is short. */
  worked(): void {
    this.#attempts = 0;
  }

  /** Ends the wire, and dials no more. */
  close(): void {
    const reason = new Error("the connection was closed");
    this.#closing.abort(reason);
    this.#wire?.close(reason);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        this.#wire = await this.#dial(signal);
        if (signal.aborted) this.#wire.close(signal.reason);
        else this.#events.onUp(this.#wire);
        this.lastError = await this.#wire.ended;
        this.#wire = undefined;
        this.#events.onDown(this.lastError);
      } catch (error) {
        this.lastError = toError(error);
        this.#events.onRefused(this.lastError);
      }
      await delay(this.#pause(), undefined, { signal }).catch(() => {});
    }
  }

  #pause(): number {
    const longest = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** this.#attempts++);
    return longest * (1 + Math.random()) / 2;
  }
}
