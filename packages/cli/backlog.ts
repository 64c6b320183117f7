/**
 * The distinct lines of the input, in order, and how far they have been handed on.
 *
 * One set does for both: it knows every line that came before, and iterating over it goes on with what is
 * added later. So a million lines cost no more than that set.
 */
export class Backlog {
  /** How many lines were folded into one that came before. */
  folded = 0;
  readonly #lines = new Set<string>();
  readonly #rest = this.#lines.values();
  #handedOn = 0;

  /** The number of distinct lines, handed on or not. */
  get distinct(): number {
    return this.#lines.size;
  }

  /** The number of distinct lines that have not been handed on. */
  get length(): number {
    return this.#lines.size - this.#handedOn;
  }

  /** Takes a line in, unless it came before, whatever has become of it since. */
  add(line: string): void {
    if (this.#lines.has(line)) this.folded++;
    else this.#lines.add(line);
  }

  /** Hands on the next line; `undefined` if there is none now. */
  shift(): string | undefined {
    if (this.length === 0) return undefined; // an iterator that came to its end once would stay there
    this.#handedOn++;
    return this.#rest.next().value;
  }
}
