const MAX_LISTED = 100;

/** The lines that cannot be items: how many there are, and which the first are, by the reason. */
export class RefusedLines {
  /** How many there are. */
  count = 0;
  readonly #byReason = new Map<string, { count: number; listed: number[] }>();

  /** Takes in the number of a line, and what it is that no item may be. */
  add(lineNumber: number, reason: string): void {
    this.count++;
    let lines = this.#byReason.get(reason);
    if (lines === undefined) this.#byReason.set(reason, lines = { count: 0, listed: [] });
    lines.count++;
    if (lines.listed.length < MAX_LISTED) lines.listed.push(lineNumber);
  }

  /** The lines of text that name them; none if there are none. */
  describe(): string[] {
    return [...this.#byReason].map(([reason, { count, listed }]) => {
      const more = count - listed.length;
      return `Refused, as ${count === 1 ? "it is" : "they are"} ${reason}: ${count === 1 ? "line" : "lines"} ` +
        listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
    });
  }
}
