import { STANDARD_INPUT } from "../items/input.ts";
import { quoteAll } from "../system/text.ts";
import type { RunPlan } from "./run_plan.ts";

/**
 * Returns a line of text that tells how to resume a run that was interrupted.
 *
 * @param plan The plan of the run.
 * @param args The command line after `workqueue`.
 * @param operands The last arguments of the command line, which are not options: the command, and possibly items.
 */
export function resumeHint(plan: RunPlan, args: readonly string[], operands: readonly string[]): string {
  if (plan.report === undefined) {
    return "This run cannot be resumed, because it has no report. Next time, start it with --resume FILE.";
  }
  const options = args.slice(0, args.length - operands.length)
    .filter((arg, i, all) => !/^--record(=|$)/.test(arg) && all[i - 1] !== "--record") // a trace can't be continued
    .map((arg) => arg.replace(/^--report(?==|$)/, "--resume"));
  const readsInput = plan.items === undefined && plan.input === STANDARD_INPUT;
  const line = quoteAll(["workqueue", ...options, ...operands]);
  return `To resume the run${readsInput ? " with the same standard input" : ""}: ${line}`;
}
