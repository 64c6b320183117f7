import { A_BOOLEAN, type Rule } from "../base/arguments.ts";
import { isTimeout, timeoutRule } from "../base/duration_arguments.ts";
import { WORK_QUEUE_RULES } from "./queue_options.ts";

/** What layers 2 and 3 take beside the queue below. */
export function delayingRules(): Readonly<Record<string, Rule>> {
  return {
    ...WORK_QUEUE_RULES,
    maxWait: [isTimeout, timeoutRule()],
    ref: A_BOOLEAN,
    whileWaiting: [(value: unknown) => value === "keep" || value === "replace", 'must be one of "keep", "replace"'],
  };
}
