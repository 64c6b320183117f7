import { ChurnMap } from "../base/churn_map.ts";
import type { GivenUpSelection } from "../contracts/given_up.ts";
import type { GiveUpReason } from "../contracts/handler.ts";
import { matcherOf } from "../policy/given_up.ts";

/** Given-up item. */
export interface Kept<T> {
  readonly item: T;
  readonly key: unknown;
  readonly error: string;
  readonly attempts: number;
  readonly reason: GiveUpReason;
  readonly group: unknown;
  readonly firstFailedAt: number;
  readonly givenUpAt: number;
}

/** Entry of a given-up item. */
export interface KeptEntry<T> extends Kept<T> {
  /** Number of the entry: later entries have larger numbers. */
  readonly number: number;
  /** Whether the item is no longer kept. */
  isGone: boolean;
}

/** Number of removed entries that a list of any length may contain. */
const MANY_GONE = 32;

/** Given-up items by key, in the order in which they were given up. */
export class KeptItems<T> {
  /** Number of items. */
  size = 0;
  /** Entries in order, including removed ones. A removal is thus fast, wherever the entry is. */
  #entries: KeptEntry<T>[] = [];
  readonly #byKey = new ChurnMap<unknown, KeptEntry<T>>();
  #lastNumber = 0;
  /** Number of removed entries at the beginning of the list. */
  #goneFirst = 0;

  get(key: unknown): KeptEntry<T> | undefined {
    return this.#byKey.get(key);
  }

  /** Adds an item. An earlier item with the same key is removed. */
  add(kept: Kept<T>): void {
    const before = this.#byKey.get(kept.key);
    if (before !== undefined) this.remove(before);
    const entry = { ...kept, number: ++this.#lastNumber, isGone: false };
    this.#byKey.set(kept.key, entry);
    this.#entries.push(entry);
    this.size++;
  }

  /** Removes an entry. Does nothing if it is gone. */
  remove(entry: KeptEntry<T>): void {
    if (entry.isGone) return;
    entry.isGone = true;
    this.#byKey.remove(entry.key);
    this.size--;
    if (this.#entries.length - this.size <= Math.max(this.size, MANY_GONE)) return;
    this.#entries = this.#entries.filter(({ isGone }) => !isGone);
    this.#goneFirst = 0;
  }

  /** Removes the oldest entries while there are more than `max` or they were given up before `time`. */
  drop(max: number, time: number): number {
    let dropped = 0;
    for (let first = this.#first; first !== undefined; first = this.#first) {
      if (this.size <= max && first.givenUpAt >= time) break;
      this.remove(first);
      dropped++;
    }
    return dropped;
  }

  /** Iterates over the entries with smaller numbers, the newest first. No entry may be added or removed meanwhile. */
  *newestFirst(before = Infinity): Generator<KeptEntry<T>, void> {
    for (let i = this.#indexAfter(before - 1) - 1; i >= 0; i--) {
      const entry = this.#entries[i]!;
      if (!entry.isGone) yield entry;
    }
  }

  /** Scans the selected entries, the oldest first. Entries that are added later are not included. */
  scan({ keys, search }: GivenUpSelection): Scan<T> {
    const entries = keys === undefined
      ? this.#entries.slice()
      : keys.map((key) => this.#byKey.get(key)).filter((entry) => entry !== undefined)
        .sort((a, b) => a.number - b.number);
    return new Scan(entries, matcherOf(search));
  }

  get #first(): KeptEntry<T> | undefined {
    while (this.#entries[this.#goneFirst]?.isGone) this.#goneFirst++;
    return this.#entries[this.#goneFirst];
  }

  /** Returns the index of the first entry with a larger number, by binary search. */
  #indexAfter(number: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.number <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Scan of entries that may continue in later turns of the event loop, while entries are added and removed. */
export class Scan<T> {
  readonly #entries: readonly KeptEntry<T>[];
  readonly #matches: (entry: Kept<T>) => boolean;
  #index = 0;

  constructor(entries: readonly KeptEntry<T>[], matches: (entry: Kept<T>) => boolean) {
    this.#entries = entries;
    this.#matches = matches;
  }

  /**
   * Checks one more entry. Returns the entry if it is kept and matches, `undefined` if not, or `false` if there are no
   * more entries.
   */
  next(): KeptEntry<T> | undefined | false {
    const entry = this.#entries[this.#index++];
    if (entry === undefined) return false;
    return !entry.isGone && this.#matches(entry) ? entry : undefined;
  }

  /** Counts the kept items that have not been checked, at most `max`. */
  countLeft(max = Infinity): number {
    let count = 0;
    for (let i = this.#index; i < this.#entries.length && count < max; i++) if (!this.#entries[i]!.isGone) count++;
    return count;
  }
}
