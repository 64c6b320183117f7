import process from "node:process";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Signals of one run of a manager, in the order in which they abort. */
export class Run {
  /** Aborts when the run is to end: no attempt begins any more. */
  readonly ending = new AbortController();
  /** Aborts when running attempts are to end. */
  readonly attempts = new AbortController();
  /** Aborts when lists and watches are to end. */
  readonly watching = new AbortController();
  /** Error with which the run ends. */
  error: unknown;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = () => this.ending.abort(new Error("The manager was stopped"));

  /**
   * Begins a run that ends when the signal aborts, or when the process gets a signal such as SIGTERM. A second such
   * signal ends the process, as usual.
   */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    for (const name of SIGNALS) process.once(name, this.#stop);
    signal?.addEventListener("abort", this.#stop);
    if (signal?.aborted) this.#stop();
  }

  /** Ends the run with an error. */
  readonly fail = (error: unknown): void => {
    if (this.ending.signal.aborted) return;
    this.error = error;
    this.ending.abort(error);
  };

  /** Ends everything that is left. */
  end(): void {
    for (const name of SIGNALS) process.off(name, this.#stop);
    this.#signal?.removeEventListener("abort", this.#stop);
    for (const controller of [this.ending, this.attempts, this.watching]) {
      controller.abort(new Error("The run has ended"));
    }
  }
}

/** Resolves when a signal aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
