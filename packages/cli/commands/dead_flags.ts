import { type Command, InvalidArgumentError } from "commander";
import { addQueueFlags, type QueueFlags } from "../remote/queue_flags.ts";
import { parseInteger, repeatable } from "./option_values.ts";

/** Options that select given-up items. */
interface SelectionFlags extends QueueFlags {
  /** Text that the key or the error must contain. */
  readonly search?: string;
  /** Keys of the items. */
  readonly key?: readonly string[];
}

/** Options of `workqueue dead list`. */
export interface DeadListFlags extends QueueFlags {
  readonly search?: string;
  /** Maximum number of items to print. */
  readonly limit: number;
  readonly json?: true;
}

/** Options of `workqueue dead redrive`. */
export interface DeadRedriveFlags extends SelectionFlags {
  /** Number of items per second. */
  readonly rate?: number;
  /** Whether to stop the running redrive instead. */
  readonly stop?: true;
}

/** Options of `workqueue dead discard`. */
export interface DeadDiscardFlags extends SelectionFlags {
  /** Whether to discard all items. */
  readonly all?: true;
}

/** Actions of the subcommands of `workqueue dead`. */
export interface DeadActions {
  list(flags: DeadListFlags): Promise<void>;
  redrive(flags: DeadRedriveFlags): Promise<void>;
  discard(flags: DeadDiscardFlags): Promise<void>;
}

const LIMIT = 100;
const MAX_LIMIT = 1_000_000;

const NOTES = `
Given-up items, also called dead letters, failed and are not retried. They stay
in the queue until they are added again, discarded, or too many or too old.

Exit codes:
  0  the command did what it says, even if there was nothing to do
  1  a redrive of the queue is running already, or was stopped
  2  the command line is wrong, or the server or the file cannot be used`;

const REDRIVE_NOTES = `
Adds given-up items again, the oldest first, and waits until all are added. The
queue remembers the redrive: if this command is killed, the workers go on.

Examples:
  workqueue dead redrive --queue jobs.db --rate 50
  workqueue dead redrive --queue images --search "HTTP 503"
  workqueue dead redrive --queue images --stop`;

const SEARCH = "items whose key or error contains this text; the case of ASCII letters is ignored";

/** Adds the subcommands of `workqueue dead`. */
export function addDeadCommands(command: Command, actions: DeadActions): Command {
  command.description("List, redrive or discard the given-up items of a queue on Redis or in a file.").addHelpText(
    "after",
    NOTES,
  );
  addQueueFlags(command.command("list"))
    .description("List given-up items, the newest first.")
    .option("--search <text>", `list only ${SEARCH}`)
    .option("--limit <n>", "number of items, at most", (text) => parseInteger(text, 1, MAX_LIMIT), LIMIT)
    .option("--json", "print a JSON object for each item")
    .action(actions.list);
  addSelection(addQueueFlags(command.command("redrive")), "add")
    .description("Add given-up items again.")
    .option("--rate <n>", "number of items per second, at most; default: no limit", parseRate)
    .option("--stop", "stop the running redrive; the other items stay given up")
    .addHelpText("after", REDRIVE_NOTES)
    .action(actions.redrive);
  addSelection(addQueueFlags(command.command("discard")), "discard")
    .description("Forget given-up items. This cannot be undone.")
    .option("--all", "discard all given-up items")
    .action(actions.discard);
  return command;
}

function addSelection(command: Command, verb: string): Command {
  return command
    .option("--search <text>", `${verb} only ${SEARCH}`)
    .addOption(repeatable("--key <key>", `${verb} only the item with this key`));
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (text.trim() === "" || !Number.isFinite(rate) || rate <= 0) {
    throw new InvalidArgumentError("It must be a positive number.");
  }
  return rate;
}
