import type { Readable } from "node:stream";
import { openQueueOf } from "../remote/open_queue.ts";
import { stderr } from "../system/standard_streams.ts";
import { keepHeapSmall } from "../system/small_heap.ts";
import { printable } from "../system/text.ts";
import { UsageError } from "../system/usage_error.ts";
import { currentEnvironment } from "./run_environment.ts";
import { executeRun } from "./run_execution.ts";
import type { RunFlags } from "./run_flags.ts";
import { planRun, type RunPlan } from "./run_plan.ts";
import { prepareRun } from "./run_preparation.ts";
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
 * @throws {Error} If the server fails at the start.
 */
export async function workCommand(
  command: readonly string[],
  given: RunFlags,
  flags: WorkFlags,
  standardInput: Readable,
): Promise<number> {
  const environment = { ...currentEnvironment(standardInput), canShowRows: false }; // the server's errors are lines
  const planned = planRun(command, given, environment);
  if (planned.items !== undefined) throw new UsageError("Cannot use ':::': the items come from the queue");
  const plan: RunPlan = { ...planned, items: [], builtInQueue: flags.queue, readsTerminal: false };
  keepHeapSmall();
  const prepared = await prepareRun(plan, standardInput, undefined);
  const onError = noteChanges();
  const queue = await openQueueOf(flags, prepared.config.config, onError);
  try {
    await queue.counts(); // a server that can't be used is found before the worker starts
    const remote = { queue, endsWhenEmpty: flags.untilEmpty === true, onError };
    return await executeRun(plan, { ...prepared, remote }, undefined, "Unfinished items are in the queue again.");
  } finally {
    queue.shutDown();
  }
}

/** Returns a callback that prints each error, unless it equals the previous one. */
function noteChanges(): (error: unknown) => void {
  let last = "";
  return (error) => {
    const message = printable(error instanceof Error ? error.message : String(error));
    if (message !== last) stderr.write(`workqueue: ${message}\n`);
    last = message;
  };
}
