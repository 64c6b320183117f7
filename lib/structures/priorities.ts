import { ChurnMap } from "./churn_map.ts";

/**
 * A priority for each of some keys, of which few have one that is not 0: those are kept, and nothing if there are none.
 */
export class Priorities {
  #byKey: ChurnMap<unknown, number> | undefined;

  get(key: unknown): number {
    return this.#byKey === undefined ? 0 : this.#byKey.get(key) ?? 0;
  }

  set(key: unknown, priority: number): void {
    if (priority !== 0) (this.#byKey ??= new ChurnMap()).set(key, priority);
    else this.#byKey?.delete(key);
  }

  /** Sets the higher of two priorities: the one that the key has, and this one. */
  raise(key: unknown, priority: number): void {
    if (priority > this.get(key)) this.set(key, priority);
  }

  /** Returns the key's priority, which is 0 from now on. */
  take(key: unknown): number {
    if (this.#byKey === undefined) return 0;
    const priority = this.get(key);
    this.set(key, 0);
    return priority;
  }

  clear(): void {
    this.#byKey = undefined;
  }
}
