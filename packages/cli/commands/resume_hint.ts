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
  const readsInput = plan.items === undefined && plan.input === STANDARD_INPUT;
  const line = quoteAll(["workqueue", ...optionsOf(args, operands, ["--record"]), ...operands]);
  return `To resume the run${readsInput ? " with the same standard input" : ""}: ${line}`;
}

/**
 * Returns a line of text that tells how to go on with the items that an interrupted run has left in a file.
 *
 * @param plan The plan of the run.
 * @param queue The value of `--queue`.
 * @param args The command line after `workqueue`.
 * @param operands The last arguments of the command line, which are not options: the command, and possibly items.
 */
export function continueHint(
  { command }: RunPlan,
  queue: string,
  args: readonly string[],
  operands: readonly string[],
): string {
  const options = optionsOf(args, operands, ["--input"]); // its items are in the file
  return `Unfinished items are in ${queue}. To go on with them: ${quoteAll(["workqueue", ...options, ...command])}`;
}

/** Returns the options of a command line, without some that take a value. A report is continued. */
function optionsOf(args: readonly string[], operands: readonly string[], without: readonly string[]): string[] {
  return args.slice(0, args.length - operands.length)
    .filter((arg, i, all) => !without.includes(arg.split("=")[0]!) && !without.includes(all[i - 1]!))
    .map((arg) => arg.replace(/^--report(?==|$)/, "--resume"));
}
