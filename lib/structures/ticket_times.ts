/** So many gaps are not worth closing. */
const MIN_GAPS = 16;

/**
 * A time for each of some tickets.
 *
 * Tickets mostly come in ascending order and go in that order, so two arrays do, with no hashing and no object
 * for a time: what goes from the front is skipped, what goes from the middle leaves a gap until half of the
 * arrays are gaps.
 */
export class TicketTimes {
  /** In ascending order; negative where there is a gap. */
  #tickets: number[] = [];
  #times: number[] = [];
  /** Where the first ticket is that still has a time. */
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The time of the first ticket; `undefined` if none has one. */
  get first(): number | undefined {
    return this.#times[this.#first];
  }

  set(ticket: number, time: number): void {
    let index = this.#tickets.length;
    while (index > this.#first && Math.abs(this.#tickets[index - 1]!) > ticket) index--;
    if (index === this.#tickets.length) {
      this.#tickets.push(ticket);
      this.#times.push(time);
    } else {
      this.#tickets.splice(index, 0, ticket);
      this.#times.splice(index, 0, time);
    }
    this.#size++;
  }

  /** Removes a ticket and returns its time; `undefined` if it has none. */
  take(ticket: number): number | undefined {
    const index = this.#indexOf(ticket);
    if (this.#tickets[index] !== ticket) return undefined;
    const time = this.#times[index];
    this.#tickets[index] = -ticket;
    this.#size--;
    while (this.#tickets[this.#first]! < 0) this.#first++;
    if (this.#tickets.length > 2 * this.#size + MIN_GAPS) this.#closeGaps();
    return time;
  }

  /** Every time, in the order of the tickets. */
  all(): number[] {
    return this.#times.filter((_, i) => this.#tickets[i]! > 0);
  }

  #indexOf(ticket: number): number {
    let low = this.#first;
    if (this.#tickets[low] === ticket) return low;
    for (let high = this.#tickets.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (Math.abs(this.#tickets[middle]!) < ticket) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #closeGaps(): void {
    this.#times = this.all();
    this.#tickets = this.#tickets.filter((ticket) => ticket > 0);
    this.#first = 0;
  }
}
