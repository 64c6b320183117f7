import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { inWords } from "./errors.ts";
import type { Wire } from "./wire.ts";

/**
 * How many turns of the event loop it takes at most until it reads what has come in: Deno looks in one of 61, while
 * busy.
 */
const TURNS_TO_READ = 64;

/**
 * Ends a wire when the server owes an answer and says nothing for too long: it hangs, or its host has vanished, which
 * TCP itself notices after a quarter of an hour. The clients do not: what they call a timeout of the socket is put off
 * by everything that is sent.
 */
export class Watchdog {
  readonly #wire: Wire;
  #owes = false;
  #heardAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Something was sent that is to be answered. */
  sent(): void {
    if (this.#owes) return;
    this.#owes = true;
    this.#heardAt = performance.now();
    if (this.#timer === undefined && this.#wire.silence !== undefined) this.#wait(this.#wire.silence);
  }

  /** Something was answered; whether more is to be. */
  heard(owes: boolean): void {
    this.#owes = owes;
    if (owes) this.#heardAt = performance.now();
  }

  close(): void {
    this.#owes = false;
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms);
    this.#timer.unref(); // the wire itself keeps the process
  }

  /** When the time is up, what came in meanwhile is read first: this process may have been paused, or busy. */
  #look(turns = TURNS_TO_READ): void {
    const silence = this.#wire.silence!;
    const left = this.#heardAt + silence - performance.now();
    if (!this.#owes) this.#timer = undefined;
    else if (left > 0) this.#wait(left);
    else if (turns > 0) setImmediate(() => this.#look(turns - 1));
    else this.#wire.close(new Error(`there was no answer within ${inWords(silence)}`));
  }
}
