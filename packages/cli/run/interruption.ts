import type { ReportLock } from "../report/report_lock.ts";
import { onSignals, onUncaught } from "../system/signals.ts";
import type { Run } from "./run.ts";

/**
 * Time after a signal during which further signals count as the same one, in milliseconds. If a launcher such as `npx`
 * or `deno task` passes Ctrl-C on, this process receives it more than once.
 */
const SAME_SIGNAL = 250;

/** Parts of a run that an interruption uses. */
type Interruptible = Pick<Run<unknown>, "tally" | "isInterrupted" | "isPrinting" | "interrupt" | "kill">;

/**
 * Ends a run for external reasons: a signal, an uncaught error, or another process that has taken over the report.
 * Dispose the object to stop listening for signals.
 */
export class Interruption implements Disposable {
  /** First signal; `undefined` if there was none. */
  signal: NodeJS.Signals | undefined = undefined;
  /** First error; `undefined` if there was none. */
  error: unknown = undefined;
  readonly #run: Interruptible;
  readonly #note: (line: string) => void;
  /** Timer during which further signals count as the first one. */
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  readonly #stopListening: () => void;

  /**
   * Starts listening.
   *
   * @param run The run.
   * @param lock The lock of the run's report; `undefined` if there is none.
   * @param note Prints a line.
   */
  constructor(run: Interruptible, lock: ReportLock | undefined, note: (line: string) => void) {
    this.#run = run;
    this.#note = note;
    onUncaught((error) => this.fail(error));
    if (lock?.lost.aborted) this.fail(lock.lost.reason); // a signal that has already aborted never calls a new listener
    else lock?.lost.addEventListener("abort", () => this.fail(lock.lost.reason));
    this.#stopListening = onSignals((signal) => this.#interrupt(signal), (signal) => {
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
    clearTimeout(this.#timer);
  }

  /** Interrupts the run, or kills it if it was interrupted before. The note appears as soon as another signal kills. */
  #interrupt(signal: NodeJS.Signals): void {
    this.signal ??= signal;
    if (this.#timer !== undefined) return;
    const isFirst = !this.#run.isInterrupted;
    this.#run.interrupt();
    if (isFirst) this.#timer = setTimeout(() => this.#invite(signal), SAME_SIGNAL);
  }

  #invite(signal: NodeJS.Signals): void {
    this.#timer = undefined;
    const { running } = this.#run.tally;
    if (running > 0 || this.#run.isPrinting) this.#note(describeInterruption(signal, running));
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
