import { argumentError } from "@workqueue/core/internal";

/**
 * Options that only in-memory queues have, each with the reason why other queues don't have it, and the alternative.
 */
const REASONS: Readonly<Record<string, string>> = {
  clock: "time is the server's. Leave it out",
  maxSleep: "the server says when items are due. Leave it out",
  onDrop: "a shutdown drops no items, they stay for other processes. Leave it out",
  priorityLevels: "the depth is not measured by priority. Leave it out",
};

/**
 * Refuses options that only in-memory queues have.
 *
 * @param product The name of the product, for messages.
 * @throws {TypeError} If such an option is set.
 */
export function refuseMemoryOptions(product: string, action: string, options: unknown): void {
  for (const [option, reason] of Object.entries(REASONS)) {
    if ((options as Record<string, unknown> | null | undefined)?.[option] === undefined) continue;
    throw argumentError(action, `'${option}' is for queues in memory: on ${product}, ${reason}`);
  }
}
