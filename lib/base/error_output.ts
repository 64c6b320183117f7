import { inOneLine } from "./safe_text.ts";

/** The shortest time between two lines, in milliseconds. */
const INTERVAL = 1000;

/**
 * Writes errors to `console.error`: each in one line that cannot steer a terminal, and one line a second at most. The
 * next line says how many were left out.
 */
export class ErrorOutput {
  readonly #now: () => number;
  #lastAt = -Infinity;
  #leftOut = 0;

  /**
   * Begins with nothing left out.
   *
   * @param now Returns the time in milliseconds.
   */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Writes a line, or counts it as left out.
   *
   * @param describe Returns the text. It is called only if the line is written.
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
