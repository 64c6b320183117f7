import { ChurnMap } from "../base/churn_map.ts";

/**
 * Delayed keys whose attempt failed. Until their retries are due, adds of these keys are folded into the retries. Keys
 * with such adds are also stored apart, so that a shutdown finds them without a look at all others.
 */
export class Folding {
  readonly #keys = new ChurnMap<unknown, true>();
  readonly #added = new ChurnMap<unknown, true>();

  has(key: unknown): boolean {
    return this.#keys.get(key) !== undefined;
  }

  /** Begins to fold adds of a key. */
  begin(key: unknown): void {
    this.#keys.set(key, true);
  }

  /** Records that an add of a key was folded. */
  add(key: unknown): void {
    this.#added.set(key, true);
  }

  /** Ends the folding of a key. */
  delete(key: unknown): void {
    this.#keys.delete(key);
    this.#added.delete(key);
  }

  /** Keys of which adds were folded, in no particular order. */
  *added(): Generator<unknown, void> {
    for (const [key] of this.#added.entries()) yield key;
  }
}
