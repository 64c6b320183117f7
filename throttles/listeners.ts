/** Callbacks of pools that wait for a change of a throttle. */
export class Listeners {
  readonly #callbacks = new Set<() => void>();

  /** Adds a callback. Returns an unsubscribe function. */
  add(callback: () => void): () => void {
    const listener = () => callback(); // unique for each call, even with the same function
    this.#callbacks.add(listener);
    return () => void this.#callbacks.delete(listener);
  }

  /** Calls all callbacks, except those that are added or removed meanwhile. */
  tell(): void {
    for (const callback of [...this.#callbacks]) if (this.#callbacks.has(callback)) callback();
  }
}
