import { firstErrorReporter } from "../base/first_error.ts";
import type { TimesRecorder } from "../contracts/queue_inspection.ts";

/**
 * Recorders of one queue's times. A recorder that throws doesn't affect the queue or the other recorders. Intended for
 * queues outside this process.
 */
export class Recorders implements TimesRecorder {
  readonly #recorders = new Set<TimesRecorder>();
  readonly #report = firstErrorReporter("record times of queue");

  /** Number of recorders. */
  get size(): number {
    return this.#recorders.size;
  }

  /** Adds a recorder. Returns a function that removes it. */
  add(recorder: TimesRecorder): () => void {
    this.#recorders.add(recorder);
    return () => void this.#recorders.delete(recorder);
  }

  waited(ms: number): void {
    this.#tell((recorder) => recorder.waited(ms));
  }

  worked(ms: number): void {
    this.#tell((recorder) => recorder.worked(ms));
  }

  #tell(call: (recorder: TimesRecorder) => void): void {
    for (const recorder of this.#recorders) {
      try {
        call(recorder);
      } catch (error) {
        this.#report(error);
      }
    }
  }
}
