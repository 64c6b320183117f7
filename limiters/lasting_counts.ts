import { ChurnMap } from "../lib/structures/churn_map.ts";
import type { FailureCounts } from "./failure_counts.ts";

/** Counts that last until they are deleted. */
export class LastingCounts implements FailureCounts {
  readonly #counts = new ChurnMap<unknown, number>();

  add(key: unknown, delayAfter: (failures: number) => number): number {
    const count = this.get(key) + 1;
    this.#counts.set(key, count);
    return delayAfter(count);
  }

  get(key: unknown): number {
    return this.#counts.get(key) ?? 0;
  }

  set(key: unknown, count: number): void {
    this.#counts.set(key, count);
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  entries(): Iterable<[key: unknown, count: number]> {
    return this.#counts.entries();
  }
}
