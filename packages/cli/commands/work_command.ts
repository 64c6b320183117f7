import type { Readable } from "node:stream";
import { findQueue } from "../remote/find_queue.ts";
import { keepHeapSmall } from "../system/small_heap.ts";
import { UsageError } from "../system/usage_error.ts";
import { currentEnvironment } from "./run_environment.ts";
import type { RunFlags } from "./run_flags.ts";
import { planRun } from "./run_plan.ts";
import { prepareRun } from "./run_preparation.ts";
import { executeOn, planOn } from "./shared_execution.ts";
import type { WorkFlags } from "./work_flags.ts";

/**
 * Runs `workqueue work` until it ends.
 *
 * @param command The command and its arguments.
 * @param given The given options of `workqueue run`.
 * @param flags The other options.
 * @param standardInput The standard input, which is not read.
 * @returns The exit code.
 * @throws {UsageError} If the user can correct the problem.
 * @throws {Error} If the server or the file fails at the start.
 */
export async function workCommand(
  command: readonly string[],
  given: RunFlags,
  flags: WorkFlags,
  standardInput: Readable,
): Promise<number> {
  const planned = planRun(command, given, currentEnvironment(standardInput));
  if (planned.items !== undefined) throw new UsageError("Cannot use ':::': the items come from the queue");
  const found = await findQueue(flags, true);
  const plan = planOn(found, planned, false);
  keepHeapSmall();
  return await executeOn(found, plan, await prepareRun(plan, standardInput, undefined), {
    endsWhenEmpty: flags.untilEmpty === true,
    lock: undefined,
    hint: "Unfinished items are in the queue.",
  });
}
