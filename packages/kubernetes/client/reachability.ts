import { sleep } from "./sleep.ts";

/** Mean time between two probes while the server doesn't answer, in milliseconds. */
const INTERVAL = 1000;

/** Sends a request that calls `answered` when an answer arrives, whatever its status. */
type Probe = (signal: AbortSignal) => Promise<unknown>;

/**
 * Whether a server answers. While it doesn't answer and callers wait, one probe is sent every second, however many
 * callers wait. If nobody waits, nothing keeps the process alive.
 */
export class Reachability {
  readonly #probe: Probe;
  readonly #waiting = new Set<() => void>();
  /** Ends the probes. `undefined` while the server answers. */
  #outage: AbortController | undefined;
  /** Signal of the probes that are being sent. */
  #probed: AbortSignal | undefined;
  #isStopped = false;

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  get isAnswering(): boolean {
    return this.#outage === undefined;
  }

  /** Notes that an answer arrived. */
  answered(): void {
    if (this.#outage === undefined || this.#isStopped) return;
    this.#outage.abort();
    this.#outage = undefined;
    this.#wake();
  }

  /** Notes that a request got no answer. The first probe follows at once: only one connection may have broken. */
  failed(): void {
    if (this.#outage !== undefined || this.#isStopped) return;
    this.#outage = new AbortController();
    void this.#probeUntil(this.#outage.signal);
  }

  /** Resolves when the server answers. Rejects with the signal's reason, or if probing is stopped. */
  whenAnswering(signal: AbortSignal): Promise<void> {
    if (this.isAnswering) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(end);
        signal.removeEventListener("abort", end);
        if (this.isAnswering) resolve();
        else reject(signal.aborted ? signal.reason : new Error("The client was closed"));
      };
      if (signal.aborted || this.#isStopped) return end();
      signal.addEventListener("abort", end);
      this.#waiting.add(end);
      void this.#probeUntil(this.#outage!.signal);
    });
  }

  /** Stops probing, and rejects all promises of `whenAnswering`. */
  stop(): void {
    this.#isStopped = true;
    this.#outage?.abort();
    this.#wake();
  }

  #wake(): void {
    for (const end of [...this.#waiting]) end();
  }

  /**
   * Sends probes until the signal aborts or nobody waits. Doesn't wait for their end: a probe that hangs must not delay
   * the next probe.
   */
  async #probeUntil(signal: AbortSignal): Promise<void> {
    if (this.#probed === signal) return;
    this.#probed = signal;
    do {
      this.#probe(signal).catch(() => {});
      await sleep(INTERVAL * (0.75 + Math.random() / 2), signal).catch(() => {});
    } while (!signal.aborted && this.#waiting.size > 0);
    if (this.#probed === signal) this.#probed = undefined;
  }
}
