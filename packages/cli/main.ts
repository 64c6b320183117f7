/**
 * The command `workqueue`: runs a command for each line of a list, through a work queue with retries and
 * backoff.
 *
 * ```sh
 * workqueue run --config queues.yaml --input urls.txt --report report.jsonl -- curl -fsSO {}
 * ```
 *
 * The child finds the item in its arguments, where `{}` stands, and in the environment as `WORKQUEUE_ITEM`;
 * `WORKQUEUE_ATTEMPT` is 1 the first time, and one more each time it is tried again. The report is described
 * by the type `ItemReport` in `report.ts`.
 *
 * Exit codes: 0 if all items succeeded, 1 if some were given up or some lines refused, 2 for an error of usage, of the
 * config or of a file, 130 if the run was interrupted.
 *
 * `workqueue check` looks for mistakes in configs, `workqueue schema` prints their JSON Schema, and `workqueue delays` shows
 * what their limiters do.
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
  type CheckFlags,
  type DelaysFlags,
  type SchemaFlags,
} from "./commands/config_flags.ts";
import { addRunFlags, type RunFlags } from "./commands/run_flags.ts";
import { EXIT } from "./system/exit_codes.ts";
import { flushed, stderr, stdout } from "./system/standard_streams.ts";
import { VERSION } from "./version.ts";

/** How long a process that was interrupted waits for those who read its output, in milliseconds. */
const MAX_FLUSH = 1000;

/**
 * Runs the command line.
 *
 * @param args The arguments, without the names of the runtime and the script.
 * @param standardInput What the items are read from where no file is named.
 * @returns The exit code.
 */
export async function main(args: string[], standardInput: Readable = process.stdin): Promise<number> {
  let exitCode: number = EXIT.succeeded;
  const program = new Command("workqueue")
    .description("Works through a list of items, with retries and backoff.")
    .version(VERSION)
    .enablePositionalOptions()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride();
  addRunFlags(program.command("run")).action(async (command: string[], flags: RunFlags) => {
    const { runCommand } = await import("./commands/run_command.ts");
    exitCode = await runCommand(command, flags, standardInput);
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
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.succeeded : EXIT.usage; // it has said why
    stderr.write(`workqueue: ${error instanceof Error ? error.message : error}\n`);
    return EXIT.usage;
  }
  return exitCode;
}

/**
 * Ends the process when all that was written has left it: `process.exit` alone would drop that, and without
 * it a pending read of standard input would keep the process alive. What was interrupted ends even if nobody reads.
 */
export async function exitWith(exitCode: number): Promise<never> {
  await (exitCode > EXIT.signal ? Promise.race([flushed(), delay(MAX_FLUSH)]) : flushed());
  process.exit(exitCode);
}
