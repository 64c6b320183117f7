import { INSPECTION, setBrand, TOTALS } from "../base/brands.ts";
import type { GiveUpReason } from "../contracts/handler.ts";
import type { InspectedQueue } from "../contracts/queue_inspection.ts";

/**
 * Counts for a queue or a pool since its creation. Counting takes no measurable time, so every queue and pool has
 * counts.
 */
export interface Totals {
  /**
   * For a queue: items that were handed out. Adding the numbers of ready and blocked items to this count gives the
   * number of items that have become ready.
   */
  readonly handedOut?: number;
  /** For a pool: attempts that did not fail. */
  readonly succeeded?: number;
  /** For a pool: attempts that failed. An attempt that times out counts once, at its timeout. */
  readonly failed?: number;
  /**
   * For a pool that was ever paused: calls of `pause`. As long as the number stays the same, nobody has paused the pool
   * again.
   */
  readonly pauses?: number;
  /** For a pool: items that were given up. */
  readonly givenUp?: number;
  /** For a pool: items that were given up, by reason. */
  readonly givenUpFor?: Readonly<Record<GiveUpReason, number>>;
}

const NONE: Totals = {};

/**
 * Returns the counts for a queue or a pool since its creation. A dashboard can compute rates from the counts.
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
 * assertEquals(totalsOf(queue), { handedOut: 1 });
 * ```
 *
 * @param counting A queue, or a pool returned by `runWorkers`.
 * @returns The counts; an empty object for a third-party queue or pool.
 */
export function totalsOf(counting: object): Totals {
  const { [TOTALS]: totals, [INSPECTION]: queue } = counting as { [TOTALS]?: () => Totals } & InspectedQueue;
  if (queue !== undefined && "handedOut" in queue) return { handedOut: queue.handedOut };
  return totals?.() ?? NONE;
}

/** Sets the function that returns a pool's totals. */
export function setTotals(counting: object, totals: () => Totals): void {
  setBrand(counting, TOTALS, totals);
}
