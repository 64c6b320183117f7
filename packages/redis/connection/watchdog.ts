import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { inWords } from "./errors.ts";
import type { Wire } from "./wire.ts";

/** Most turns of the event loop until received data is read. Deno, while busy, reads in one of 61 turns. */
const TURNS_TO_READ = 64;

/**
 * Ends a wire if the server owes an answer and is silent for too long. The server hangs then, or its host has vanished,
 * which TCP itself notices only after a quarter of an hour. The clients notice neither: everything they send restarts
 * the timeout of their socket.
 */
export class Watchdog {
  readonly #wire: Wire;
  #owes = false;
  #heardAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Records that something was sent that will be answered. */
  sent(): void {
    if (this.#owes) return;
    this.#owes = true;
    this.#heardAt = performance.now();
    if (this.#timer === undefined && this.#wire.silence !== undefined) this.#wait(this.#wire.silence);
  }

  /** Records an answer. `owes` says whether more answers are due. */
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
    this.#timer.unref(); // the wire itself keeps the process alive
  }

  /**
   * Ends the wire when its time is over. Data that arrived is read first, as this process may have been paused or busy.
   */
  #look(turns = TURNS_TO_READ): void {
    const silence = this.#wire.silence!;
    const left = this.#heardAt + silence - performance.now();
    if (!this.#owes) this.#timer = undefined;
    else if (left > 0) this.#wait(left);
    else if (turns > 0) setImmediate(() => this.#look(turns - 1));
    else this.#wire.close(new Error(`there was no answer within ${inWords(silence)}`));
  }
}
