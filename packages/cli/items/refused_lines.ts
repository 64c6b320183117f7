const MAX_LISTED = 100;

/** The lines that are not UTF-8: how many there are, and which the first are. */
export class RefusedLines {
  /** How many there are. */
  count = 0;
  readonly #listed: number[] = [];

  /** Takes in the number of a line. */
  add(lineNumber: number): void {
    this.count++;
    if (this.#listed.length < MAX_LISTED) this.#listed.push(lineNumber);
  }

  /** The lines of text that name them; none if there are none. */
  describe(): string[] {
    if (this.count === 0) return [];
    const more = this.count - this.#listed.length;
    return [
      `Refused, as they are not UTF-8: ${this.count === 1 ? "line" : "lines"} ${this.#listed.join(", ")}` +
      (more > 0 ? ` and ${more} more` : ""),
    ];
  }
}
