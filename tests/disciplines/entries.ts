import type { ReadyEntry } from "@workqueue/core";
import { SEAT } from "../../lib/base/brands.ts";

export type MadeEntry<T = number> = { -readonly [K in keyof ReadyEntry<T>]: ReadyEntry<T>[K] };

/**
 * Makes entries without a queue, with ascending numbers from 0 as keys. If `areSeated`, each entry has room for a seat,
 * like the entries of a queue.
 */
export class Entries {
  time = 0;
  #made = 0;

  constructor(readonly areSeated: boolean) {}

  next(priority: number): MadeEntry {
    const key = this.#made++;
    const entry: MadeEntry = { key, item: key, priority, readyAt: this.time };
    return this.areSeated ? Object.assign(entry, { [SEAT]: 0 }) : entry;
  }
}
