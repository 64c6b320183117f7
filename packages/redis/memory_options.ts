import { argumentError } from "@workqueue/core/internal";

/**
 * Options that only in-memory queues have, with the reason why Redis queues don't have them, and the alternative on
 * Redis.
 */
const REASONS: Readonly<Record<string, string>> = {
  clock: "on Redis, time is the server's. Leave it out",
  discipline: "on Redis, queues are first in, first out. Use a queue for each priority or group instead",
  keepGivenUp: "on Redis, the server keeps the newest 10,000 given-up items. Leave it out",
  maxSleep: "on Redis, the server says when items are due. Leave it out",
  onDrop: "on Redis, a shutdown drops no items, they stay for other processes. Leave it out",
  retryBudget: "on Redis, queues have no retry budget. Leave it out, and limit attempts with 'throttle'",
  priorityLevels: "on Redis, queues are first in, first out. Use a queue for each priority instead",
};

/** Returns the error message for an option that only in-memory queues have. */
export function memoryOnly(option: keyof typeof REASONS): string {
  return `'${option}' is for queues in memory: ${REASONS[option]}`;
}

/**
 * Refuses options that only in-memory queues have.
 *
 * @throws {TypeError} If such an option is set.
 */
export function refuseMemoryOptions(action: string, options: unknown): void {
  for (const option of Object.keys(REASONS)) {
    if ((options as Record<string, unknown> | null | undefined)?.[option] === undefined) continue;
    throw argumentError(action, memoryOnly(option));
  }
}
