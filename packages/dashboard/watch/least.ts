/** Counts entries, and keeps the entries with the least numbers. */
export class Least<Entry> {
  readonly #limit: number;
  readonly #numberOf: (entry: Entry) => number;
  #kept: Entry[] = [];
  /** Number of entries added so far. */
  count = 0;

  constructor(limit: number, numberOf: (entry: Entry) => number) {
    this.#limit = limit;
    this.#numberOf = numberOf;
  }

  add(entry: Entry): void {
    this.count++;
    if (this.#kept.push(entry) >= 2 * this.#limit) this.#kept = this.list();
  }

  /** Returns the kept entries, the least number first. */
  list(): Entry[] {
    return this.#kept.sort((a, b) => this.#numberOf(a) - this.#numberOf(b)).slice(0, this.#limit);
  }
}
