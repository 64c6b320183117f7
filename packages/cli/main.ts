/**
 * Command `workqueue`: runs a command for each line of a list through a work queue with retries and backoff.
 *
 * ```sh
 * workqueue run --config queues.yaml --input urls.txt --report report.jsonl -- curl -fsSO {}
 * ```
 *
 * The item replaces `{}` in the arguments of the command. In the command's environment, the variable `WORKQUEUE_ITEM`
 * contains the item. `WORKQUEUE_ATTEMPT` is 1 for the first attempt and increases by one with each retry. The type
 * `ItemReport` in `report/records.ts` describes the report.
 *
 * Exit codes: 0 if all items succeeded; 1 if some items were given up or some lines were refused; 2 if the command
 * line, a config or a file is wrong; 130 if the run was interrupted.
 *
 * `workqueue check` finds mistakes in configs. `workqueue schema` prints the JSON Schema of configs. `workqueue delays`
 * shows the delays of limiters. `workqueue simulate` shows what a config does under a load. `workqueue push` adds lines
 * to a queue on Redis or in a file, `workqueue work` runs a command for its items, and `workqueue status` shows the
 * queue. `workqueue pause` and `workqueue resume` stop and start it in all processes. `workqueue cancel` cancels the
 * work on an item. `workqueue copy` copies the queue to another file or server. `workqueue dead` lists, redrives and
 * discards its given-up items.
 *
 * @module
 */

import process from "node:process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Command, CommanderError } from "commander";
import {
  addCheckFlags,
  addDelaysFlags,
  addSchemaFlags,
  addSimulateFlags,
  type CheckFlags,
  type DelaysFlags,
  type SchemaFlags,
  type SimulateFlags,
} from "./commands/config_flags.ts";
import { addCancelFlags, type CancelFlags } from "./commands/cancel_flags.ts";
import { addCopyFlags, type CopyFlags } from "./commands/copy_flags.ts";
import { addDeadCommands } from "./commands/dead_flags.ts";
import { addPauseFlags, addResumeFlags } from "./commands/pause_flags.ts";
import { addPushFlags, type PushFlags } from "./commands/push_flags.ts";
import { addRunFlags, givenFlags } from "./commands/run_parser.ts";
import { addStatusFlags, type StatusFlags } from "./commands/status_flags.ts";
import { addWorkFlags, type WorkFlags } from "./commands/work_flags.ts";
import type { QueueFlags } from "./remote/queue_flags.ts";
import { EXIT } from "./system/exit_codes.ts";
import { flushed, stderr, stdout } from "./system/standard_streams.ts";
import { messageOf } from "./system/text.ts";
import { VERSION } from "./version.ts";

/** Names of the commands. */
export const COMMANDS: readonly string[] = [
  "run",
  "check",
  "schema",
  "delays",
  "simulate",
  "push",
  "status",
  "pause",
  "resume",
  "cancel",
  "copy",
  "work",
  "dead",
];

/** Longest time, in milliseconds, that an interrupted process waits for its output to be read. */
const MAX_FLUSH = 1000;

/**
 * Runs the command line.
 *
 * @param args The arguments, without the names of the runtime and the script.
 * @param standardInput The stream to read if no file is named. Default: standard input of the process.
 * @returns The exit code.
 */
export async function main(args: string[], standardInput: Readable = process.stdin): Promise<number> {
  let exitCode: number = EXIT.succeeded;
  const program = new Command("workqueue")
    .description("Run a command for each item of a list, with retries and backoff.")
    .version(VERSION)
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
    .hook("preAction", async () => void await import("./core_version.ts"));
  addRunFlags(program.command("run")).action(async (command: string[], _options: unknown, run: Command) => {
    const { runCommand } = await import("./commands/run_command.ts");
    exitCode = await runCommand(command, givenFlags(run), standardInput, args);
  });
  addCheckFlags(program.command("check")).action(async (files: string[], flags: CheckFlags) => {
    const { checkCommand } = await import("./commands/check_command.ts");
    exitCode = await checkCommand(files, flags, standardInput);
  });
  addSchemaFlags(program.command("schema")).action(async (flags: SchemaFlags) => {
    const { schemaCommand } = await import("./commands/schema_command.ts");
    await schemaCommand(flags);
  });
  addDelaysFlags(program.command("delays")).action(async (file: string, flags: DelaysFlags) => {
    const { delaysCommand } = await import("./commands/delays_command.ts");
    await delaysCommand(file, flags);
  });
  addSimulateFlags(program.command("simulate")).action(async (files: string[], flags: SimulateFlags) => {
    const { simulateCommand } = await import("./commands/simulate_command.ts");
    exitCode = await simulateCommand(files, flags);
  });
  addPushFlags(program.command("push")).action(async (flags: PushFlags) => {
    const { pushCommand } = await import("./commands/push_command.ts");
    exitCode = await pushCommand(flags, standardInput);
  });
  addStatusFlags(program.command("status")).action(async (flags: StatusFlags) => {
    const { statusCommand } = await import("./commands/status_command.ts");
    exitCode = await statusCommand(flags);
  });
  const pauses = () => import("./commands/pause_command.ts");
  addPauseFlags(program.command("pause"))
    .action(async (flags: QueueFlags) => void (exitCode = await (await pauses()).pauseCommand(flags)));
  addResumeFlags(program.command("resume"))
    .action(async (flags: QueueFlags) => void (exitCode = await (await pauses()).resumeCommand(flags)));
  addCancelFlags(program.command("cancel")).action(async (key: string, flags: CancelFlags) => {
    const { cancelCommand } = await import("./commands/cancel_command.ts");
    exitCode = await cancelCommand(key, flags);
  });
  addCopyFlags(program.command("copy")).action(async (from: string, to: string, flags: CopyFlags) => {
    const { copyCommand } = await import("./commands/copy_command.ts");
    exitCode = await copyCommand(from, to, flags);
  });
  addWorkFlags(program.command("work")).action(async (command: string[], flags: WorkFlags, work: Command) => {
    const { workCommand } = await import("./commands/work_command.ts");
    exitCode = await workCommand(command, givenFlags(work), flags, standardInput);
  });
  const dead = () => import("./commands/dead_command.ts");
  addDeadCommands(program.command("dead"), {
    list: async (flags) => void (exitCode = await (await dead()).deadListCommand(flags)),
    redrive: async (flags) => void (exitCode = await (await dead()).deadRedriveCommand(flags)),
    discard: async (flags) => void (exitCode = await (await dead()).deadDiscardCommand(flags)),
  });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has already printed the reason.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.succeeded : EXIT.usage;
    stderr.write(`workqueue: ${messageOf(error)}\n`);
    return EXIT.usage;
  }
  return exitCode;
}

/**
 * Ends the process as soon as all its output is written. `process.exit` alone would drop pending output. Without
 * `process.exit`, a pending read of standard input would keep the process alive. After one second, an interrupted
 * process ends even if nobody reads its output.
 */
export async function exitWith(exitCode: number): Promise<never> {
  await (exitCode > EXIT.signal ? Promise.race([flushed(), delay(MAX_FLUSH)]) : flushed());
  process.exit(exitCode);
}
