const MAX_LISTED = 100;

/** Counts refused lines, and keeps the line numbers of the first few refused for each reason. */
export class RefusedLines {
  /** Number of refused lines. */
  count = 0;
  readonly #byReason = new Map<string, { count: number; listed: number[] }>();

  /** Adds a line, given its number and the reason for refusing it, such as `"not UTF-8"`. */
  add(lineNumber: number, reason: string): void {
    this.count++;
    let lines = this.#byReason.get(reason);
    if (lines === undefined) this.#byReason.set(reason, lines = { count: 0, listed: [] });
    lines.count++;
    if (lines.listed.length < MAX_LISTED) lines.listed.push(lineNumber);
  }

  /** Returns a line of text for each reason. */
  describe(): string[] {
    return [...this.#byReason].map(([reason, { count, listed }]) => {
      const more = count - listed.length;
      return `Refused (${reason}): ${count === 1 ? "line" : "lines"} ` + listed.join(", ") +
        (more > 0 ? ` and ${more} more` : "");
    });
  }
}
