/** Numbers of the slots in which commands run. A slot is in use by at most one command at a time. */
export class Slots {
  readonly #used: boolean[] = [];
  #count = 0;

  /** Number of slots in use. */
  get count(): number {
    return this.#count;
  }

  /** Takes the free slot with the lowest number, starting at 1. */
  take(): number {
    const free = this.#used.indexOf(false);
    const index = free === -1 ? this.#used.length : free;
    this.#used[index] = true;
    this.#count++;
    return index + 1;
  }

  /** Frees a slot. */
  free(slot: number): void {
    this.#used[slot - 1] = false;
    this.#count--;
  }
}
