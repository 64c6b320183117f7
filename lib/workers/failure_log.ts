import type { Clock } from "../base/clock.ts";
import { inspect } from "../base/errors.ts";
import { inOneLine } from "../base/safe_text.ts";
import type { WorkAttempt } from "../contracts/work_source.ts";
import { messageOf, placeOf } from "./error_text.ts";

/** How much time there is between two lines, in milliseconds. */
const INTERVAL = 1000;

/** Writes failures to `console.error`, where nobody else wants to hear of them: one line a second at most. */
export class FailureLog {
  readonly #queueName: string;
  readonly #clock: Clock;
  #lastAt = -Infinity;
  #leftOut = 0;

  constructor(queueName: string, clock: Clock) {
    this.#queueName = queueName;
    this.#clock = clock;
  }

  write(error: unknown, { key, number }: WorkAttempt<unknown>): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#lastAt) < INTERVAL) {
      this.#leftOut++;
      return;
    }
    const queue = this.#queueName === "" ? "" : ` of queue ${inspect(this.#queueName)}`;
    const leftOut = this.#leftOut === 0 ? "" : ` (left out before: ${this.#leftOut})`;
    const failure = `${messageOf(error)} ${placeOf(error)}`.trimEnd();
    console.error(inOneLine(`Item ${inspect(key)}${queue} failed at attempt ${number}: ${failure}${leftOut}`));
    this.#lastAt = now;
    this.#leftOut = 0;
  }
}
