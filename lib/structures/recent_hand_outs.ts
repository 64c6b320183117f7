import { NONE } from "./records.ts";

/** Maximum number of hand-outs that are kept: a power of two. */
const KEPT = 16;

/**
 * Keys and records of the latest hand-outs that have not ended. With a few consumers, the key that is done next is
 * among them, and a search of these keys is faster than a lookup among all.
 */
export class RecentHandOuts {
  readonly #keys: unknown[] = [];
  readonly #records: (number | undefined)[] = [];

  add(handOut: number, record: number, key: unknown): void {
    const place = handOut & (KEPT - 1);
    this.#keys[place] = key;
    this.#records[place] = record;
  }

  /** Returns the record with which a key was handed out; `NONE` if it was not found. */
  find(key: unknown): number {
    const place = this.#keys.indexOf(key);
    return place < 0 ? NONE : this.#records[place] ?? NONE;
  }

  /** Removes a hand-out that ends, so that its key can be garbage collected. */
  remove(handOut: number, record: number): void {
    const place = handOut & (KEPT - 1);
    if (this.#records[place] === record) this.#keys[place] = this.#records[place] = undefined;
  }
}
