import type { ReadyEntry } from "@workqueue/core";

export type MadeEntry<T = number> = { -readonly [K in keyof ReadyEntry<T>]: ReadyEntry<T>[K] };

/** Makes entries without a queue, with ascending numbers from 0 as keys. */
export class Entries {
  time = 0;
  #made = 0;

  next(priority: number): MadeEntry {
    const key = this.#made++;
    return { key, item: key, priority, readyAt: this.time };
  }
}
