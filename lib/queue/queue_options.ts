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
    (value: QueueDiscipline<unknown>) => hasMethods(value, "push", "pop", "touch") && value.length >= 0,
    "must be a queue discipline, as createPriorityDiscipline() or disciplines.build() gives",
  ],
};

function isNumbersByName(value: unknown): boolean {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false; // a Map, say
  const numbers = Object.values(value as object);
  return numbers.every(Number.isFinite) && new Set(numbers).size === numbers.length;
}
