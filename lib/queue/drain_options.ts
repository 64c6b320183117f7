import { A_SIGNAL, requireRules, type Rule } from "../base/arguments.ts";
import type { DrainOptions } from "../contracts/work_queue.ts";

const DRAIN_RULES: Readonly<Record<string, Rule>> = {
  waiting: [
    (value: unknown) => value === "drop" || value === "flush" || value === "wait",
    'must be one of "drop", "flush", "wait"',
  ],
  signal: A_SIGNAL,
};

/** Checks the options of `shutDownWithDrain`. */
export function readDrainOptions(options: DrainOptions = {}): DrainOptions {
  requireRules("drain queue", options, DRAIN_RULES);
  return options;
}
