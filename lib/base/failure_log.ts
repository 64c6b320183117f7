import type { Clock } from "./clock.ts";
import { ErrorOutput } from "./error_output.ts";
import { inspect } from "./errors.ts";
import { messageOf, placeOf } from "./thrown.ts";

/**
 * Writes failed attempts to `console.error`, at most one line per second. Used by queues and pools without an error
 * callback.
 */
export class FailureLog {
  readonly #queueName: string;
  readonly #output: ErrorOutput;

  constructor(queueName: string, clock: Clock) {
    this.#queueName = queueName;
    this.#output = new ErrorOutput(() => clock.now());
  }

  /** Writes the error of a failed attempt, with the key of its item and the number of the attempt. */
  write(error: unknown, { key, number }: { readonly key: unknown; readonly number: number }): void {
    this.#output.write(() => {
      const queue = this.#queueName === "" ? "" : ` of queue ${inspect(this.#queueName)}`;
      const failure = `${messageOf(error)} ${placeOf(error)}`.trimEnd();
      return `Item ${inspect(key)}${queue} failed at attempt ${number}: ${failure}`;
    });
  }
}
