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

const RUN_NOTES = `
The command also finds the item in WORKQUEUE_ITEM, and in WORKQUEUE_ATTEMPT how
often it has been tried for it, 1 the first time. No shell is involved. An item
that is due to be tried again goes before lines that were never tried.

The input is UTF-8. A line that is not is left out, and named at the end.

Memory: every distinct line is kept until the end, to know it when it comes
again. An input without end needs --no-dedupe: each line is then an item of its
own, even if it equals another, and both may run at once. What is kept then are
about 10,000 lines that were read ahead, and at most 100,000 items that wait to
be tried again: while there are so many, no other line is begun.

Exit codes:
  0    the command succeeded for every item
  1    some items were given up, or some lines were not UTF-8
  2    the command line, the config, a file or the command is wrong, or the
       output or the report cannot be written, as on a full disk
  130  interrupted: Ctrl-C once waits for what runs, twice kills it; SIGQUIT
       kills it at once, and so does a reader of the output that has left, as
       head does

Example:
  workqueue run --input urls.txt --report report.jsonl -- curl -fsSO {}`;

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
  addRunFlags(program.command("run"))
    .description("Runs a command for each line of a list, and again, later, for those it fails for.")
    .usage("[options] -- COMMAND [ARG with {} …]")
    .argument("<command...>", "the command and its arguments, in which {} stands for the item")
    .addHelpText("after", RUN_NOTES)
    .passThroughOptions()
    .action(async (command: string[], flags: RunFlags) => {
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
