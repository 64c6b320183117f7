import type { Clock } from "../base/clock.ts";
import { inspect } from "../base/errors.ts";
import type { Attempt } from "./attempt.ts";

/** How much time there is between two lines, in milliseconds. */
const INTERVAL = 1000;

const MAX_MESSAGE_LENGTH = 300;

/** What would end a line, or do something to a terminal. */
const BREAKS_AND_CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

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

  write(error: unknown, { key, number }: Attempt<unknown>): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#lastAt) < INTERVAL) {
      this.#leftOut++;
      return;
    }
    const queue = this.#queueName === "" ? "" : ` of queue ${inspect(this.#queueName)}`;
    const leftOut = this.#leftOut === 0 ? "" : ` (left out before: ${this.#leftOut})`;
    const line = `Item ${inspect(key)}${queue} failed at attempt ${number}: ${describe(error)}${leftOut}`;
    console.error(line.replace(BREAKS_AND_CONTROLS, " "));
    this.#lastAt = now;
    this.#leftOut = 0;
  }
}

/** An error in one line: its name, its message and where it was made. Anything can be thrown, also what throws when it is looked at. */
function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return inspect(thrown);
    const { name, message, stack = "" } = thrown;
    const text = `${name}: ${message}`.slice(0, MAX_MESSAGE_LENGTH);
    if (thrown instanceof DOMException) return text; // of a timeout or an abort, which is made where nothing is wrong
    const place = stack.slice(stack.indexOf(message) + message.length).match(/^.*:\d+:\d+\)?$/m);
    return place === null ? text : `${text} ${place[0].trim()}`;
  } catch {
    return inspect(thrown);
  }
}
