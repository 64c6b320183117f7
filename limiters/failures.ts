/** How often each key failed since it was last forgotten. */
export class Failures {
  readonly #counts = new Map<unknown, number>();

  /** Counts one more failure and returns how many there are now. */
  increment(key: unknown): number {
    const count = this.of(key) + 1;
    this.#counts.set(key, count);
    return count;
  }

  of(key: unknown): number {
    return this.#counts.get(key) ?? 0;
  }

  forget(key: unknown): void {
    this.#counts.delete(key);
  }
}
