import { TOTALS } from "../base/brands.ts";
import type { GiveUpReason } from "../contracts/handler.ts";

/**
 * What a queue or a pool has counted since it was made. They cost nothing that could be measured, so all of them count.
 */
export interface Totals {
  /**
   * Of a queue: how many items were handed out. With those that are ready or blocked, that is how many became ready.
   */
  readonly handedOut?: number;
  /** Of a queue: whether it is first in, first out, so that its totals tell which item is the oldest. */
  readonly isFifo?: boolean;
  /** Of a pool: attempts that did not fail. */
  readonly succeeded?: number;
  /** Of a pool: attempts that failed; one that runs out of time counts then, once. */
  readonly failed?: number;
  /** Of a pool: items that were given up. */
  readonly givenUp?: number;
  /** Of a pool: the same, by reason. */
  readonly givenUpFor?: Readonly<Record<GiveUpReason, number>>;
}

const NONE: Totals = {};

/**
 * Tells what a queue or a pool has counted since it was made: for pages that show rates.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { totalsOf } from "@workqueue/core/metrics";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>();
 * queue.add("a");
 * queue.tryGet();
 * assertEquals(totalsOf(queue), { handedOut: 1, isFifo: true });
 * ```
 *
 * @param counting A queue, or what `runWorkers` returned.
 * @returns What it counts; nothing if it is somebody else's.
 */
export function totalsOf(counting: object): Totals {
  return (counting as { [TOTALS]?: () => Totals })[TOTALS]?.() ?? NONE;
}

/** Gives an object its totals. As a member of its class they would keep bundlers from leaving the class out. */
export function setTotals(counting: object, totals: () => Totals): void {
  Object.defineProperty(counting, TOTALS, { value: totals });
}
