import { argumentError } from "@workqueue/core/internal";

/** The options of queues in memory that a queue on Redis cannot have: the reason, and what to do instead. */
const REASONS: Readonly<Record<string, string>> = {
  clock: "on Redis, time is the server's. Leave it out",
  discipline: "on Redis, queues are first in, first out. Use a queue for each priority or group instead",
  maxSleep: "on Redis, the server says when items are due. Leave it out",
  onDrop: "on Redis, a shutdown drops no items, they stay for other processes. Leave it out",
  priorityLevels: "on Redis, queues are first in, first out. Use a queue for each priority instead",
};

/** Returns why a queue on Redis cannot have an option of queues in memory. */
export function memoryOnly(option: keyof typeof REASONS): string {
  return `'${option}' is for queues in memory: ${REASONS[option]}`;
}

/** Refuses options of queues in memory. */
export function refuseMemoryOptions(action: string, options: unknown): void {
  for (const option of Object.keys(REASONS)) {
    if ((options as Record<string, unknown> | null | undefined)?.[option] === undefined) continue;
    throw argumentError(action, memoryOnly(option));
  }
}
