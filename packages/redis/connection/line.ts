import { setTimeout as delay } from "node:timers/promises";
import { toError } from "./errors.ts";
import type { Wire } from "./wire.ts";

/** Callbacks of a line. */
export interface LineEvents<W extends Wire> {
  /** Called for each new wire. */
  onUp(wire: W): void;
  /** Called when the wire has ended. */
  onDown(reason: Error): void;
  /** Called when dialing has failed. */
  onRefused(error: Error): void;
}

const FIRST_DELAY = 50;
const MAX_DELAY = 1000;

/**
 * Keeps a wire up: dials, and dials again each time the wire has ended or dialing has failed. The pauses between
 * attempts grow from 50 ms to one second. Each pause is randomly shortened by up to half, so that many processes don't
 * reconnect at the same time.
 */
export class Line<W extends Wire> {
  /** Reason why the latest wire ended, or why the latest attempt to dial failed. */
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

  /** Starts dialing. Only the first call has an effect. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#run();
  }

  /** Records that the wire works. If the wire ends later, the first pause is short. */
  worked(): void {
    this.#attempts = 0;
  }

  /** Ends the wire and stops dialing. */
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
