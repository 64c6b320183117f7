import type { Command } from "commander";
import { addQueueFlags, type QueueFlags } from "../remote/queue_flags.ts";
import type { FlagName } from "./run_flags.ts";
import { addFlag } from "./run_parser.ts";

/** Options that `workqueue work` has in addition to options of `workqueue run`. */
export interface WorkFlags extends QueueFlags {
  /** Whether to end when the queue is empty. */
  readonly untilEmpty?: true;
}

/** Options of `workqueue run` that `workqueue work` has too, in the order of the help. */
const SHARED: readonly FlagName[] = [
  ...["json", "colsep", "replace", "no-append", "concurrency", "retries", "timeout", "backoff", "jitter"] as const,
  ...[
    "give-up-on",
    "retry-after-on",
    "retry-after-scope",
    "rate",
    "tag",
    "output",
    "group",
    "line-buffer",
    "stderr",
  ] as const,
  ...["results", "quiet", "config", "plugin"] as const,
];

const NOTES = `
Any number of workers share the queue, on any machines, or, if it is in a file,
on this one. Each item is handed to one worker at a time. A failed item goes back
to the queue, and any worker may retry it. Items of a killed worker go back when
its leases expire. Given-up items stay in the queue: see workqueue dead.

Placeholders are those of workqueue run. {#} counts the attempts of this worker.
Lines that don't fit --json or --colsep are given up. With --output group, the
output of each attempt is printed when the attempt ends. With --config, the
config must have a queue with the name that --queue gives, without the file.

Exit codes:
  0    this worker gave up no item
  1    this worker gave up some items
  2    the command line, the config, a file or the command is wrong, or the
       server or the file failed
  130  Ctrl-C (once waits for running commands, twice kills them)
  143  SIGTERM, which does the same as Ctrl-C

Examples:
  workqueue work --queue jobs.db -- convert {} {.}.png
  workqueue work --redis redis://localhost --queue images -- convert {} {.}.png
  workqueue work --queue images --until-empty -j 4 --retries 3 -- ./resize`;

/** Adds the options of `workqueue work` to a command. */
export function addWorkFlags(command: Command): Command {
  command
    .description("Run a command for each item of a queue on Redis or in a file, and retry failed items with backoff.")
    .usage("[options] -- COMMAND [ARG with {} …]")
    .argument("<command...>", "the command and its arguments")
    .passThroughOptions();
  addQueueFlags(command).option("--until-empty", "end when no item is ready, delayed or processing in any process");
  for (const name of SHARED) addFlag(command, name);
  return command.addHelpText("after", NOTES);
}
