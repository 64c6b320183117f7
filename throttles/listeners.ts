/** Callbacks of pools that wait for a change of a throttle. */
export class Listeners {
  /** Callbacks, keyed by their unsubscribe functions, because the same callback may be added several times. */
  readonly #callbacks = new Map<() => void, () => void>();

  /** Adds a callback. Returns an unsubscribe function. */
  add(callback: () => void): () => void {
    const stop = () => void this.#callbacks.delete(stop);
    this.#callbacks.set(stop, callback);
    return stop;
  }

  /** Calls all callbacks, except those that are added or removed meanwhile. */
  tell(): void {
    for (const stop of [...this.#callbacks.keys()]) this.#callbacks.get(stop)?.();
  }
}
