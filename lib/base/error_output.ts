import { inOneLine } from "./safe_text.ts";

/** Shortest time between two lines, in milliseconds. */
const INTERVAL = 1000;

/**
 * Writes errors to `console.error`, at most one line per second. Characters that could control a terminal are replaced
 * by spaces. Each line also says how many errors have been omitted since the previous line.
 */
export class ErrorOutput {
  readonly #now: () => number;
  #lastAt = -Infinity;
  #omitted = 0;

  /**
   * Creates an output.
   *
   * @param now Returns the time in milliseconds.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Writes a line, or omits it if the previous line was written less than a second ago.
   *
   * @param describe Returns the text of the line. Called only if the line is written.
   */
  write(describe: () => string): void {
    const now = this.#now();
    if (Math.abs(now - this.#lastAt) < INTERVAL) {
      this.#omitted++;
      return;
    }
    const errors = this.#omitted === 1 ? "error" : "errors";
    const omitted = this.#omitted === 0 ? "" : ` (${this.#omitted} earlier ${errors} omitted)`;
    console.error(inOneLine(`${describe()}${omitted}`));
    this.#lastAt = now;
    this.#omitted = 0;
  }
}
