/** Number of gaps that are always tolerated. */
const MIN_GAPS = 16;

/**
 * Times by ticket.
 *
 * Tickets are mostly added and removed in ascending order, so two arrays are enough. Arrays need no hashing, and no
 * object per entry. Tickets removed from the front are skipped. Tickets removed from the middle leave gaps, which
 * are closed when they make up half of the arrays.
 */
export class TicketTimes {
  /** Tickets in ascending order. The ticket of a gap is negative. */
  #tickets: number[] = [];
  #times: number[] = [];
  /** Index of the first ticket that still has a time. */
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Time of the first ticket; `undefined` if there are no tickets. */
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

  /** Returns all times, in the order of their tickets. */
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
