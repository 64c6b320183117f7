import { argumentError } from "@workqueue/core/internal";

/**
 * Options that only in-memory queues have, each with the reason why other queues don't have it, and the alternative.
 */
const REASONS: Readonly<Record<string, string>> = {
  clock: "time is the server's. Leave it out",
  maxSleep: "the server says when items are due. Leave it out",
  onDrop: "a shutdown drops no items, they stay for other processes. Leave it out",
  retryBudget: "queues have no retry budget. Leave it out, and limit attempts with 'throttle'",
  priorityLevels: "the depth is not measured by priority. Leave it out",
};

/** Returns the error message for an option that only in-memory queues have. `product` is the name of the product. */
export function memoryOnly(product: string, option: string): string {
  return `'${option}' is for queues in memory: on ${product}, ${REASONS[option]}`;
}

/**
 * Refuses options that only in-memory queues have.
 *
 * @throws {TypeError} If such an option is set.
 */
export function refuseMemoryOptions(product: string, action: string, options: unknown): void {
  for (const option of Object.keys(REASONS)) {
    if ((options as Record<string, unknown> | null | undefined)?.[option] === undefined) continue;
    throw argumentError(action, memoryOnly(product, option));
  }
}
