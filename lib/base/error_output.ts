import { inOneLine } from "./safe_text.ts";

/** Shortest time between two lines, in milliseconds. */
const INTERVAL = 1000;

/**
 * Writes errors to `console.error`, at most one line a second. Characters that could steer a terminal are replaced by
 * spaces. A line also says how many errors were left out since the previous one.
 */
export class ErrorOutput {
  readonly #now: () => number;
  #lastAt = -Infinity;
  #leftOut = 0;

  /**
   * Creates an output with nothing left out.
   *
   * @param now Returns the time in milliseconds.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Writes a line, or counts it as left out.
   *
   * @param describe Returns the text. Called only if the line is written.
   */
  write(describe: () => string): void {
    const now = this.#now();
    if (Math.abs(now - this.#lastAt) < INTERVAL) {
      this.#leftOut++;
      return;
    }
    const leftOut = this.#leftOut === 0 ? "" : ` (left out before: ${this.#leftOut})`;
    console.error(inOneLine(`${describe()}${leftOut}`));
    this.#lastAt = now;
    this.#leftOut = 0;
  }
}
