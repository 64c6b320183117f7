import { hasMethods, requireCallback, requireClock, requireOptions } from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { WorkQueueOptions } from "../contracts/work_queue.ts";
import { METRIC_METHODS } from "../metrics/queue_metrics.ts";

const COMMON_OPTIONS = ["name", "keyOf", "discipline", "clock", "metrics"];

/** Checks what all layers take, and that there is nothing else but the options of the layer's own. */
export function requireQueueOptions<T>(action: string, options: WorkQueueOptions<T>, ...own: string[]): void {
  requireOptions(action, options, [...own, ...COMMON_OPTIONS]);
  const { name, keyOf, discipline, clock, metrics } = options;
  if (name !== undefined && typeof name !== "string") throw invalidArgument(action, "name", "must be a string", name);
  requireCallback(action, "keyOf", keyOf);
  if (discipline !== undefined && !(hasMethods(discipline, "push", "pop", "touch") && discipline.length >= 0)) {
    throw invalidArgument(action, "discipline", "must be a queue discipline", discipline);
  }
  requireClock(action, clock);
  if (metrics !== undefined && !hasMethods(metrics, ...METRIC_METHODS)) {
    throw invalidArgument(action, "metrics", "must be a metrics provider", metrics);
  }
}
