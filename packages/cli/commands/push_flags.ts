import { tryParseDuration } from "@workqueue/core/internal";
import { type Command, InvalidArgumentError } from "commander";
import { STANDARD_INPUT } from "../items/input.ts";
import { addQueueFlags, type QueueFlags } from "../remote/queue_flags.ts";
import { parseInteger } from "./option_values.ts";

/** Options of `workqueue push`. */
export interface PushFlags extends QueueFlags {
  /** Path of the list. */
  readonly input: string;
  /** Whether items end with NUL instead of a line feed. */
  readonly null?: true;
  /** Priority of the items. */
  readonly priority?: number;
  /** Delay of the items, in milliseconds. */
  readonly delay?: number;
  /** Number of items in the queue below which more are added. */
  readonly whenBelow?: number;
  /** Whether to print nothing if all lines were added. */
  readonly quiet?: true;
}

const MAX_BELOW = 1_000_000_000;

const NOTES = `
Each line is an item. The lines are added in batches of up to 1000, and more are
read when a batch is stored. A line that is in the queue already is not added
twice. Blank lines are left out, and lines that are not UTF-8 refused. If the
command fails, lines added before stay in the queue. A new file gets a queue
named "default", unless the option names another one.

Exit codes:
  0  all lines are in the queue
  1  some lines were refused
  2  the command line or a file is wrong, or the server failed

Examples:
  workqueue push --queue jobs.db --input urls.txt
  workqueue push --redis redis://localhost --queue images --input urls.txt
  find . -name '*.wav' -print0 | workqueue push --queue audio -0
  generate-lines | workqueue push --queue images --when-below 10000`;

/** Adds the options of `workqueue push` to a command. */
export function addPushFlags(command: Command): Command {
  command.description("Add each line of a list to a queue on Redis or in a file.");
  return addQueueFlags(command)
    .option("--input <file>", "file with one item per line; - is standard input", STANDARD_INPUT)
    .option("-0, --null", "items end with NUL instead of a line feed, as in the output of find -print0")
    .option("--priority <n>", "priority of the items, for a queue with a discipline of priorities", parsePriority)
    .option("--delay <duration>", "delay of the items, such as 30s", parseDelay)
    .option(
      "--when-below <n>",
      "add more only when fewer than n items are ready, blocked or delayed",
      (text) => parseInteger(text, 1, MAX_BELOW),
    )
    .option("--quiet", "print nothing if no line is refused")
    .addHelpText("after", NOTES);
}

function parsePriority(text: string): number {
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError("It must be an integer.");
}

function parseDelay(text: string): number {
  const duration = tryParseDuration(text);
  if (duration !== undefined && duration >= 0 && !/^\d+$/.test(text)) return duration;
  throw new InvalidArgumentError("It must be a duration with a unit, such as 250ms, 30s or 1h30m.");
}
