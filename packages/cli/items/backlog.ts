/** How many entries that were handed on may stay in the list before it is cut. */
const MIN_CUT = 1000;

/** The lines of the input that were not handed on, in order. */
export class Backlog {
  /** How many lines were taken in, those that were folded not among them. */
  total = 0;
  /** How many lines were folded into one that came before. */
  folded = 0;
  readonly #seen: Set<string> | undefined;
  #lines: string[] = [];
  #next = 0;

  /**
   * Begins with no lines.
   *
   * @param isDistinct Whether a line is folded into an equal one that came before. Every distinct line is kept for
   * that; else only those that were not handed on.
   */
  constructor(isDistinct: boolean) {
    this.#seen = isDistinct ? new Set() : undefined;
  }

  /** The number of lines that were not handed on. */
  get length(): number {
    return this.#lines.length - this.#next;
  }

  /** Takes a line in, unless it came before, whatever has become of it since. */
  add(line: string): void {
    if (this.#seen?.has(line)) {
      this.folded++;
      return;
    }
    this.#seen?.add(line);
    this.#lines.push(line);
    this.total++;
  }

  /** Hands on the next line; `undefined` if there is none now. */
  shift(): string | undefined {
    if (this.length === 0) return undefined;
    const line = this.#lines[this.#next++];
    if (this.#next >= MIN_CUT && this.#next * 2 >= this.#lines.length) {
      this.#lines = this.#lines.slice(this.#next);
      this.#next = 0;
    }
    return line;
  }
}
