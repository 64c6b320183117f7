import type { Command } from "commander";
import { STANDARD_INPUT } from "../items/input.ts";
import type { Halt } from "../run/halt.ts";
import type { Overrides } from "../config/run_config.ts";
import { pluginOption } from "./option_values.ts";
import {
  parseBackoff,
  parseConcurrency,
  parseJitter,
  parsePort,
  parseRate,
  parseReport,
  parseRetries,
  parseSeparator,
  parseTimeout,
  parseWhen,
} from "./run_values.ts";

/** The options of `workqueue run`. */
export interface RunFlags {
  /** The config file. */
  readonly config?: string;
  /** The queue of the config. */
  readonly queue?: string;
  /** The modules of limiters and disciplines. */
  readonly plugin?: readonly string[];
  /** The file of the items, or `-`. */
  readonly input: string;
  /** Whether NUL ends an item. */
  readonly null?: true;
  /** Whether a line is an object of JSON. */
  readonly json?: true;
  /** Whether equal lines are one item. */
  readonly dedupe: boolean;
  /** Whether the item is appended where there is no placeholder. */
  readonly append: boolean;
  /** How many commands run at once. */
  readonly concurrency?: number;
  /** How often an item is tried again. */
  readonly retries?: number;
  /** How long one attempt may take, in milliseconds. */
  readonly timeout?: number;
  /** How long failures wait. */
  readonly backoff?: Overrides["backoff"];
  /** How often attempts may begin. */
  readonly rate?: Overrides["starts"];
  /** The part of each wait that is random. */
  readonly jitter?: number;
  /** What ends the name of a group. */
  readonly groupBy?: string;
  /** When to end early. */
  readonly halt?: Halt;
  /** The report file. */
  readonly report?: string;
  /** The report file to go on with. */
  readonly resume?: string;
  /** Whether the commands are printed, and not run. */
  readonly dryRun?: true;
  /** Whether the dashboard is served, or on which port. */
  readonly serve?: true | number;
  /** Whether what the commands print has the item before it. */
  readonly tag?: true;
  /** Whether nothing is said of a run that goes well. */
  readonly quiet?: true;
}

const NOTES = `
In COMMAND, {} stands for the item, {.} for it without its extension, {/} for what
is after the last slash, {//} for what is before it, {/.} for both, and {#} for its
number. Without any of them the item goes to the end. No shell is involved: for
one, run sh -c '… "$1"' sh {}. The command also finds the item in WORKQUEUE_ITEM,
and in WORKQUEUE_ATTEMPT how often it has been tried for it, 1 the first time.

Equal lines are one item. A line that is not UTF-8, or not JSON with --json, is left
out and named at the end. An item that is due to be tried again goes before lines
that were never tried. At most 10,000 lines are read ahead, and 100,000 items wait
to be tried again: an input may have no end, with 27 to 54 bytes kept of each line
that differs, and none with --no-dedupe.

What a config says of the queue counts, and what options say counts more. A config
that changes is taken over at once. With --group-by or a discipline, groups take
turns among the lines that were read ahead.

A report begins with a line about the command and its config; --resume refuses
another. Killed at any time, a run that is resumed does again what was in flight;
after a power cut, also what ended in the last second.

Exit codes:
  0    the command succeeded for every item
  1    some items were given up, or not finished, or some lines were left out
  2    the command line, the config, a file or the command is wrong, or the output
       or the report cannot be written, as on a full disk
  130  Ctrl-C: once waits for what runs, twice kills it; or nobody reads the output
       any more, as with head
  143  SIGTERM, which does the same; 128 and its number for any other signal

Examples:
  workqueue run --input urls.txt --rate 10/s --resume report.jsonl -- curl -fsSO
  find . -name '*.wav' -print0 | workqueue run -0 -- lame {} {.}.mp3
  workqueue run --json --input users.jsonl --retries 3 -- ./invite {email}`;

/** Adds what `workqueue run` takes to a command. */
export function addRunFlags(command: Command): Command {
  return command
    .description("Runs a command for each line of a list, and again, later, for those it fails for.")
    .usage("[options] -- COMMAND [ARG with {} …]")
    .argument("<command...>", "the command and its arguments")
    .addHelpText("after", NOTES)
    .passThroughOptions()
    .option("--input <file>", "the list, one item a line; - is standard input", STANDARD_INPUT)
    .option("-0, --null", "NUL ends an item, and not a line feed, as in the output of find -print0")
    .option("--json", "each line is an object of JSON: {name} in the command is its member of that name")
    .option("--no-dedupe", "make each line an item, even if it equals another")
    .option("--no-append", "append nothing to a command that has no placeholder")
    .option("--concurrency <n>", "how many commands run at once (default: the processors)", parseConcurrency)
    .option("--retries <n>", "how often an item is tried again (default: 5)", parseRetries)
    .option("--timeout <duration>", "how long one attempt may take, as 30s; then it is killed", parseTimeout)
    .option(
      "--backoff <first..longest>",
      "how long failures wait, each time twice as long (default: 100ms..30s)",
      parseBackoff,
    )
    .option("--jitter <part>", "the part of each wait that is random, from 0 to 1", parseJitter)
    .option("--rate <n/unit>", "how many attempts may begin, as 10/s, 100/m or 5/h", parseRate)
    .option("--group-by <separator>", "let groups take turns; a group is what is before the separator", parseSeparator)
    .option("--halt <when>", "end early: soon,fail=N or now,fail=N%; soon finishes what runs, now kills it", parseWhen)
    .option(
      "--report <file>",
      "write there what becomes of each item, one line of JSON each; it has to be empty",
      parseReport,
    )
    .option("--resume <file>", "go on with that report: leave out what has succeeded, and add to it", parseReport)
    .option("--tag", "print the item and a tab before each line that its command prints")
    .option("--quiet", "show no progress, and no summary if every item has succeeded, as for cron")
    .option(
      "--serve [port]",
      "serve the dashboard of the run to this machine; on any free port if none is given",
      parsePort,
    )
    .option("--dry-run", "print the commands, and run none")
    .option("--config <file>", "a config of queues and limiters: .json, .jsonc, .yaml, .yml or .toml")
    .option("--queue <name>", "the queue of the config to use; needed if it has several and none named default")
    .addOption(pluginOption());
}

/** What the options say in place of the config. */
export function overridesOf({ concurrency, retries, timeout, rate, backoff, jitter, groupBy }: RunFlags): Overrides {
  return { concurrency, maxRetries: retries, timeout, starts: rate, backoff, jitter, groupBy };
}
