import { requireOptions, requireSignal } from "../base/arguments.ts";
import { inspect, invalidArgument } from "../base/errors.ts";
import type { DrainOptions } from "../contracts/work_queue.ts";

const ACTION = "drain queue";
const WAITING = ["drop", "flush", "wait"] as const;

/** Checks the options of `shutDownWithDrain`, and fills in their defaults. */
export function readDrainOptions(
  options: DrainOptions = {},
): { waiting: (typeof WAITING)[number]; signal: AbortSignal | undefined } {
  requireOptions(ACTION, options, ["waiting", "signal"]);
  const { waiting = "drop", signal } = options;
  if (!WAITING.includes(waiting)) {
    throw invalidArgument(ACTION, "waiting", `must be one of ${WAITING.map(inspect).join(", ")}`, waiting);
  }
  requireSignal(ACTION, signal);
  return { waiting, signal };
}
