import type { Command } from "commander";
import { addQueueFlags, type QueueFlags } from "../remote/queue_flags.ts";

/** Options of `workqueue cancel`. */
export interface CancelFlags extends QueueFlags {
  /** Reason with which the signal of a running attempt aborts. */
  readonly reason?: string;
}

const NOTES = `
A ready, blocked or delayed item is taken out of the queue. A process that works
on the item aborts the signal of its handler, or, if it is 'workqueue work',
ends the command. The item is not retried. Later adds of the item count.

Exit codes:
  0  the item was cancelled
  1  the item is neither waiting nor running
  2  the command line is wrong, or the server or the file cannot be used

Examples:
  workqueue cancel photo-17.jpg --queue jobs.db
  workqueue cancel photo-17.jpg --redis redis://localhost --queue images`;

/** Adds the argument and the options of `workqueue cancel` to a command. */
export function addCancelFlags(command: Command): Command {
  command.description("Cancel the work on an item of a queue on Redis or in a file.")
    .argument("<key>", "key of the item");
  return addQueueFlags(command)
    .option("--reason <text>", "reason with which the signal of a running handler aborts")
    .addHelpText("after", NOTES);
}
