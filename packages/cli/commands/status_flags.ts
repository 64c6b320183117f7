import type { Command } from "commander";
import { addQueueFlags, type QueueFlags } from "../remote/queue_flags.ts";

/** Options of `workqueue status`. */
export interface StatusFlags extends QueueFlags {
  /** Whether to print the snapshot as JSON. */
  readonly json?: true;
}

const NOTES = `
The counts cover all processes. On a server, a queue that nobody has used yet is
empty; in a file, it is an error. With --json, the lists have up to 100 items
each, and durations are in milliseconds.

Exit codes:
  0  the status was printed
  2  the command line or a file is wrong, or the server failed

Examples:
  workqueue status --queue jobs.db
  workqueue status --redis redis://localhost --queue images
  workqueue status --queue images --json | jq .givenUp`;

/** Adds the options of `workqueue status` to a command. */
export function addStatusFlags(command: Command): Command {
  command.description(
    "Show how many items of a queue on Redis or in a file are ready, delayed, processing or given up.",
  );
  return addQueueFlags(command)
    .option("--json", "print the snapshot of the queue as JSON")
    .addHelpText("after", NOTES);
}
