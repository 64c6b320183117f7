import { onSuspend, stopThisProcess } from "../system/signals.ts";
import type { Run } from "./run.ts";

/** Display that makes room for the shell while the process is stopped. */
export interface SuspendableDisplay {
  /** Erases the rows that are updated in place. Resolves when they are erased. */
  suspend(): Promise<void>;
  /** Shows progress again. */
  resume(): void;
}

/**
 * Stops the children of a run together with this process when SIGTSTP asks this process to stop, as Ctrl-Z does.
 * Children don't receive the terminal's signals, because each child leads its own session. Dispose the object to stop
 * listening for the signal.
 */
export class Suspension implements Disposable {
  readonly #run: Pick<Run<unknown>, "suspend" | "resume">;
  readonly #display: SuspendableDisplay;
  readonly #stopListening: () => void;
  #isSuspended = false;

  /** Starts listening. */
  constructor(run: Pick<Run<unknown>, "suspend" | "resume">, display: SuspendableDisplay) {
    this.#run = run;
    this.#display = display;
    this.#stopListening = onSuspend(() => void this.#suspend());
  }

  async #suspend(): Promise<void> {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    await this.#display.suspend();
    // A listener for SIGCONT could receive the signal late, even after the next SIGTSTP. So the children are stopped
    // immediately before this process, which can't miss a SIGCONT in between.
    this.#run.suspend();
    await stopThisProcess();
    this.#run.resume();
    this.#display.resume();
    this.#isSuspended = false;
  }

  /** Stops listening. */
  [Symbol.dispose](): void {
    this.#stopListening();
  }
}
