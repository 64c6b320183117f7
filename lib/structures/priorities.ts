import { ChurnMap } from "../base/churn_map.ts";

/** Priorities by key. Only priorities other than 0, which are rare, take memory. */
export class Priorities {
  #byKey: ChurnMap<unknown, number> | undefined;

  get(key: unknown): number {
    return this.#byKey === undefined ? 0 : this.#byKey.get(key) ?? 0;
  }

  set(key: unknown, priority: number): void {
    if (priority !== 0) (this.#byKey ??= new ChurnMap()).set(key, priority);
    else this.#byKey?.delete(key);
  }

  /** Sets a key's priority if the new priority is higher. */
  raise(key: unknown, priority: number): void {
    if (priority > this.get(key)) this.set(key, priority);
  }

  /** Returns the key's priority and resets it to 0. */
  take(key: unknown): number {
    if (this.#byKey === undefined) return 0;
    const priority = this.get(key);
    this.set(key, 0);
    return priority;
  }
}
