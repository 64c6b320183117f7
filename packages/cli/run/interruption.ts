import type { ReportLock } from "../report/report_lock.ts";
import { onSignals, onUncaught } from "../system/signals.ts";
import type { Run } from "./run.ts";

/**
 * Ends a run for external reasons: a signal, an uncaught error, or another process that has taken over the report.
 * Dispose the object to stop listening for signals.
 */
export class Interruption implements Disposable {
  /** First signal; `undefined` if there was none. */
  signal: NodeJS.Signals | undefined = undefined;
  /** First error; `undefined` if there was none. */
  error: unknown = undefined;
  readonly #run: Run;
  readonly #stopListening: () => void;

  /**
   * Starts listening.
   *
   * @param run The run.
   * @param lock The lock of the run's report; `undefined` if there is none.
   * @param note Prints a line.
   */
  constructor(run: Run, lock: ReportLock | undefined, note: (line: string) => void) {
    this.#run = run;
    onUncaught((error) => this.fail(error));
    if (lock?.lost.aborted) this.fail(lock.lost.reason); // a signal that has already aborted never calls a new listener
    else lock?.lost.addEventListener("abort", () => this.fail(lock.lost.reason));
    this.#stopListening = onSignals((signal) => {
      const { running } = run.tally;
      if (!run.isInterrupted && (running > 0 || run.isPrinting)) note(describeInterruption(signal, running));
      this.signal ??= signal;
      run.interrupt();
    }, (signal) => {
      this.signal ??= signal;
      run.kill();
    });
  }

  /** Kills the run because of an error. */
  fail(error: unknown): void {
    this.error ??= error;
    this.#run.kill();
  }

  /** Stops listening for signals. */
  [Symbol.dispose](): void {
    this.#stopListening();
  }
}

function describeInterruption(signal: NodeJS.Signals, running: number): string {
  if (running === 0) {
    const next = signal === "SIGINT" ? "Press Ctrl-C again to end" : `Another ${signal} ends`;
    return `Interrupted: waiting for the reader of the output. ${next} the run.`;
  }
  const [commands, them] = running === 1 ? ["1 running command", "it"] : [`${running} running commands`, "them"];
  const next = signal === "SIGINT" ? `Press Ctrl-C again to kill ${them}` : `Another ${signal} kills ${them}`;
  return `Interrupted: waiting for ${commands}. ${next}.`;
}
