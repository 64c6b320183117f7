import type { Readable } from "node:stream";
import { lockReport } from "../report/report_lock.ts";
import { keepHeapSmall } from "../system/small_heap.ts";
import { printCommands } from "./dry_run.ts";
import { resumeHint } from "./resume_hint.ts";
import { currentEnvironment } from "./run_environment.ts";
import { executeRun } from "./run_execution.ts";
import type { RunFlags } from "./run_flags.ts";
import { planRun } from "./run_plan.ts";
import { prepareItems, prepareRun } from "./run_preparation.ts";

/**
 * Runs `workqueue run` until it ends.
 *
 * @param command The command and its arguments.
 * @param flags The given flags.
 * @param standardInput The stream for the input `-`.
 * @param args The whole command line after `workqueue`, for messages.
 * @returns The exit code.
 * @throws {UsageError} If the user can correct the problem.
 */
export async function runCommand(
  command: readonly string[],
  flags: RunFlags,
  standardInput: Readable,
  args: readonly string[],
): Promise<number> {
  const plan = planRun(command, flags, currentEnvironment(standardInput));
  keepHeapSmall();
  if (plan.isDryRun) return await printCommands(plan, await prepareItems(plan, standardInput));
  const lock = plan.report && await lockReport(plan.report.path);
  try {
    return await executeRun(
      plan,
      await prepareRun(plan, standardInput, lock?.lost),
      lock,
      resumeHint(plan, args, command),
    );
  } finally {
    lock?.[Symbol.dispose]();
  }
}
