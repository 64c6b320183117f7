/** How often each key has failed since it was last forgotten. */
export interface FailureCounts {
  /** Counts one more failure of a key. Gives how long it waits, which `delayAfter` says of the number of its failures. */
  add(key: unknown, delayAfter: (failures: number) => number): number;
  /** The count of a key. */
  get(key: unknown): number;
  /** Sets the count of a key that has none; `end` is when the last delay that it gave is over. */
  set(key: unknown, count: number, end: number): void;
  delete(key: unknown): void;
  /** Whether nothing is counted. May be false for longer than need be. */
  isEmpty(): boolean;
  /** All counts, and the ends of their last delays where they are known. */
  entries(): Iterable<readonly [key: unknown, count: number, end?: number]>;
}
