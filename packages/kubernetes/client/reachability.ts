import { sleep } from "./sleep.ts";

/** Mean time between two probes while the server doesn't answer, in milliseconds. */
const INTERVAL = 1000;

/** Resolves when an answer arrives, whatever its status, and rejects without one. */
type Probe = (signal: AbortSignal) => Promise<unknown>;

/** Whether a server answers. While it doesn't, one probe a second finds out when it does, however many callers wait. */
export class Reachability {
  readonly #probe: Probe;
  readonly #stopped = new AbortController();
  #isAnswering = true;
  readonly #waiting = new Set<() => void>();

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  get isAnswering(): boolean {
    return this.#isAnswering;
  }

  /** Notes that an answer arrived. */
  answered(): void {
    this.#isAnswering = true;
    this.#wake();
  }

  /** Notes that a request got no answer. The first probe follows at once: only one connection may have broken. */
  failed(): void {
    if (!this.#isAnswering || this.#stopped.signal.aborted) return;
    this.#isAnswering = false;
    void this.#probeUntilAnswered();
  }

  /** Resolves when the server answers. Rejects with the signal's reason, or if probing is stopped. */
  whenAnswering(signal: AbortSignal): Promise<void> {
    if (this.#isAnswering) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { signal: stopped } = this.#stopped;
      const end = () => {
        this.#waiting.delete(end);
        signal.removeEventListener("abort", end);
        if (this.#isAnswering) resolve();
        else reject(signal.aborted ? signal.reason : stopped.reason);
      };
      if (signal.aborted || stopped.aborted) return end();
      signal.addEventListener("abort", end);
      this.#waiting.add(end);
    });
  }

  /** Stops probing, and rejects all promises of `whenAnswering`. */
  stop(): void {
    this.#stopped.abort(new Error("The client was closed"));
    this.#wake();
  }

  #wake(): void {
    for (const end of [...this.#waiting]) end();
  }

  async #probeUntilAnswered(): Promise<void> {
    const { signal } = this.#stopped;
    while (!this.#isAnswering && !signal.aborted) {
      const isAnswered = await this.#probe(signal).then(() => true, () => false);
      if (isAnswered) return this.answered();
      await sleep(INTERVAL * (0.75 + Math.random() / 2), signal).catch(() => {});
    }
  }
}
