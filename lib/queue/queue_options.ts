import { A_CLOCK, A_FUNCTION, A_STRING, hasMethods, type Rule } from "../base/arguments.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";

/** What layer 1 takes. */
export const WORK_QUEUE_RULES: Readonly<Record<string, Rule>> = {
  name: A_STRING,
  keyOf: A_FUNCTION,
  clock: A_CLOCK,
  metrics: [
    (value: unknown) =>
      hasMethods(
        value,
        "depth",
        "adds",
        "queueLatency",
        "workDuration",
        "unfinishedWork",
        "longestRunningProcessor",
        "retries",
      ),
    "must be a metrics provider",
  ],
  priorityLevels: [isNumbersByName, "must be an object of finite numbers, all different"],
  discipline: [
    isDiscipline,
    "must be a queue discipline, as createPriorityDiscipline() or disciplines.build() gives",
  ],
};

/** Whether a value is an order of ready items. */
export function isDiscipline(value: unknown): value is QueueDiscipline<unknown> {
  return hasMethods(value, "push", "pop", "touch") && (value as QueueDiscipline<unknown>).length >= 0;
}

function isNumbersByName(value: unknown): boolean {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false; // a Map, say
  const numbers = Object.values(value as object);
  return numbers.every(Number.isFinite) && new Set(numbers).size === numbers.length;
}
