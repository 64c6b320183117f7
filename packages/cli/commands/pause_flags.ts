import type { Command } from "commander";
import { addQueueFlags } from "../remote/queue_flags.ts";

const PAUSE_NOTES = `
The pause holds for all processes, also for those that start later, until
'workqueue resume' or a program resumes the queue. Attempts that are running
continue. Items can still be added. 'workqueue status' says "paused".

Exit codes:
  0  the queue is paused
  2  the command line or a file is wrong, or the server failed

Examples:
  workqueue pause --queue jobs.db
  workqueue pause --redis redis://localhost --queue images`;

const RESUME_NOTES = `
Ends a pause by any process, even by one that is gone.

Exit codes:
  0  the queue is not paused
  2  the command line or a file is wrong, or the server failed

Examples:
  workqueue resume --queue jobs.db
  workqueue resume --redis redis://localhost --queue images`;

/** Adds the options of `workqueue pause` to a command. */
export function addPauseFlags(command: Command): Command {
  command.description("Pause a queue on Redis or in a file: no process takes its items.");
  return addQueueFlags(command).addHelpText("after", PAUSE_NOTES);
}

/** Adds the options of `workqueue resume` to a command. */
export function addResumeFlags(command: Command): Command {
  command.description("Resume a paused queue on Redis or in a file.");
  return addQueueFlags(command).addHelpText("after", RESUME_NOTES);
}
