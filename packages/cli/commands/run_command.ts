import type { Readable } from "node:stream";
import { findInFile } from "../remote/find_queue.ts";
import { queueFileOf } from "../remote/queue_file.ts";
import { lockReport } from "../report/report_lock.ts";
import { keepHeapSmall } from "../system/small_heap.ts";
import { printCommands } from "./dry_run.ts";
import { continueHint, resumeHint } from "./resume_hint.ts";
import { currentEnvironment } from "./run_environment.ts";
import { executeRun } from "./run_execution.ts";
import type { RunFlags } from "./run_flags.ts";
import { planRun } from "./run_plan.ts";
import { prepareItems, prepareRun } from "./run_preparation.ts";
import { executeOn, planOn } from "./shared_execution.ts";

/**
 * Runs `workqueue run` until it ends.
 *
 * @param command The command and its arguments.
 * @param flags The given flags.
 * @param standardInput The stream for the input `-`.
 * @param args The whole command line after `workqueue`, for messages.
 * @returns The exit code.
 * @throws {UsageError} If the user can correct the problem.
 * @throws {Error} If the file of the queue fails at the start.
 */
export async function runCommand(
  command: readonly string[],
  flags: RunFlags,
  standardInput: Readable,
  args: readonly string[],
): Promise<number> {
  const file = flags.queue === undefined ? undefined : queueFileOf(flags.queue);
  const planned = planRun(command, flags, currentEnvironment(standardInput));
  const found = file && await findInFile(file, true);
  // At a terminal, a run without a list goes on with the items in the file.
  const hasList = !planned.readsTerminal || flags.input !== undefined;
  const plan = found === undefined ? planned : planOn(found, planned, hasList);
  keepHeapSmall();
  if (plan.isDryRun) return await printCommands(plan, await prepareItems(plan, standardInput));
  const lock = plan.report && await lockReport(plan.report.path);
  try {
    const prepared = await prepareRun(plan, standardInput, lock?.lost);
    if (found === undefined) return await executeRun(plan, prepared, lock, resumeHint(plan, args, command));
    const hint = continueHint(plan, flags.queue!, args, command);
    return await executeOn(found, plan, prepared, { endsWhenEmpty: true, lock, hint });
  } finally {
    lock?.[Symbol.dispose]();
  }
}
