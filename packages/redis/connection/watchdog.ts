import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { inWords } from "./errors.ts";
import type { Wire } from "./wire.ts";

/**
 * Maximum number of event loop turns until received data is read. A busy Deno process reads data in only one of every
 * 61 turns.
 */
const TURNS_TO_READ = 64;

/**
 * Ends a wire if the server owes an answer and is silent for too long. In that case, the server is hanging or its host
 * has vanished. TCP itself notices a vanished host only after a quarter of an hour. The clients notice neither case,
 * because each command that a client sends restarts its socket timeout.
 */
export class Watchdog {
  readonly #wire: Wire;
  #owes = false;
  #heardAt = 0;
  #lookAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Records that a command was sent. The server now owes an answer. */
  sent(): void {
    if (this.#owes) return;
    this.#owes = true;
    this.#heardAt = performance.now();
    if (this.#timer === undefined && this.#wire.silence !== undefined) this.#wait(this.#wire.silence);
  }

  /** Records an answer. `owes` is true if the server still owes answers. */
  heard(owes: boolean): void {
    this.#owes = owes;
    if (owes) this.#heardAt = performance.now();
  }

  close(): void {
    this.#owes = false;
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.#lookAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.#lookInTime(), ms);
    this.#timer.unref(); // only the wire should keep the process alive
  }

  /**
   * Ends the wire if the server has been silent for too long. If the timer is late, this process was paused or busy,
   * and may have sent its commands only now. In that case, the time starts again.
   */
  #lookInTime(): void {
    const silence = this.#wire.silence!;
    if (performance.now() - this.#lookAt > silence / 2) this.#wait(silence);
    else this.#look();
  }

  /** Ends the wire if the server has been silent for too long. Data that has already arrived is read first. */
  #look(turns = TURNS_TO_READ): void {
    const silence = this.#wire.silence!;
    const left = this.#heardAt + silence - performance.now();
    if (!this.#owes) this.#timer = undefined;
    else if (left > 0) this.#wait(left);
    else if (turns > 0) setImmediate(() => this.#look(turns - 1));
    else this.#wire.close(new Error(`there was no answer within ${inWords(silence)}`));
  }
}
